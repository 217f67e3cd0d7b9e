package plan

import (
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/txn"
)

// Apply enters an answer into the transaction.
func Apply(t *txn.Transaction, s txn.Step, a txn.Answer, now time.Time) {
	op := t.Op(s)
	early := op.Early
	op.InFlight, op.Held, op.Early = false, false, time.Time{}
	op.Note, op.Lacking = a.Note, lacking(op, a)
	if !early.After(now) {
		insist(s, op, a)
	}
	switch a.Kind {
	case txn.AnswerDone:
		op.Calls++
		endOp(op, txn.Done)
		op.Result = a.Result
		if s.Phase == txn.PhaseHook {
			skip(&t.Progress[s.Branch])
		}
	case txn.AnswerRefused:
		op.Calls++
		if a.Unasked && s.Phase == txn.PhaseDo {
			keepDoubt(&t.Progress[s.Branch])
		}
		enterRefusal(t, s, op, early, now)
	case txn.AnswerPending:
		op.Calls++
		op.State = txn.Unsure
		op.Due = askAgain(a, early, now)
	case txn.AnswerFailed:
		op.Calls++
		op.State = txn.Unsure
		enterFailure(t, s, op, early, now)
	case txn.AnswerUnreached:
		op.Calls++
		enterFailure(t, s, op, early, now)
	case txn.AnswerHeld:
		holdBack(op, early, now.Add(putBack(t, s, op, a)))
	}
}

// askAgain is when a pending operation is asked about again. An early call that the
// coordinator itself has broken off leaves the pause, in which it was made, as it was.
func askAgain(a txn.Answer, early, now time.Time) time.Time {
	switch {
	case a.BrokenOff && early.After(now):
		return early
	case a.After < time.Millisecond: // a number without its unit is that many nanoseconds in Go
		return now.Add(defaultPending)
	default:
		return now.Add(min(a.After, txn.MaxPending))
	}
}

// lacking counts how often in a row nobody was there who could make the call.
func lacking(op *txn.Op, a txn.Answer) int {
	if !a.Lacking {
		return 0
	}
	return op.Lacking + 1
}

// putBack is how long a held operation is not called. Where a coordinator is sought that
// can make the call, the pauses between tries grow.
func putBack(t *txn.Transaction, s txn.Step, op *txn.Op, a txn.Answer) time.Duration {
	if a.Lacking {
		return Pause(txn.Policy{Backoff: firstSearch, MaxBackoff: lastSearch}, op.Lacking, seed(t, s))
	}
	return orDefault(a.After, defaultPending)
}

// insist counts answers in a row that asking again does not change. A refusal where none is
// possible any more is one.
func insist(s txn.Step, op *txn.Op, a txn.Answer) {
	late := a.Kind == txn.AnswerRefused && (s.Phase == txn.PhaseConfirm || s.Phase == txn.PhaseUndo)
	switch {
	case a.Kind == txn.AnswerHeld:
	case late || a.Lasting:
		op.Lasting++
	default:
		op.Lasting = 0
	}
}

// endOp ends an operation.
func endOp(op *txn.Op, state txn.OpState) {
	op.State, op.Tries, op.Lasting, op.Spent, op.Due = state, 0, 0, false, time.Time{}
}

// skip does what a hook says: the operation that has no attempts left counts as done. The
// hook may be asked again in a later phase.
func skip(p *txn.Progress) {
	for _, op := range []*txn.Op{&p.Do, &p.Confirm, &p.Undo} {
		if op.Spent {
			endOp(op, txn.Skipped)
		}
	}
	p.Hook.State = txn.Idle
}

// enterRefusal ends an operation as refused. After the decision nothing can be refused any
// more: a participant that has promised cannot go back, so it is asked again.
func enterRefusal(t *txn.Transaction, s txn.Step, op *txn.Op, early, now time.Time) {
	switch s.Phase {
	case txn.PhaseConfirm, txn.PhaseUndo:
		op.State, op.Note = txn.Unsure, strings.TrimSuffix("refused, which it cannot any more: "+op.Note, ": ")
		enterFailure(t, s, op, early, now)
	default:
		endOp(op, txn.Refused)
	}
}

// keepDoubt has a branch undone that the coordinator itself has refused, if an earlier call
// of it may have taken effect.
func keepDoubt(p *txn.Progress) {
	if p.Do.State == txn.Unsure {
		p.Undo.State = txn.Unsure
	}
}

// holdBack puts off an operation that was not called. If it was its turn, it still is when
// it is fetched; if the call was early, its own pause goes on.
func holdBack(op *txn.Op, early, until time.Time) {
	op.Due, op.Held = until, true
	if !early.IsZero() {
		op.Due, op.Held = early, false
	}
}

// Hurry lets an operation be called before it is due: one that was held back, because it is
// its turn, and one that has failed, early. One whose participant has asked for time is not
// hurried.
func Hurry(op *txn.Op, now time.Time) {
	switch {
	case !op.Due.After(now):
	case op.Held:
		op.Due = time.Time{}
	case op.Tries > 0:
		op.Early, op.Due = op.Due, time.Time{}
	}
}

// enterFailure counts a failure and says when to try again. An early call is a present: when
// it fails within the pause that it was made in, that pause goes on, and no attempt is
// used up.
func enterFailure(t *txn.Transaction, s txn.Step, op *txn.Op, early, now time.Time) {
	if early.After(now) {
		op.Due = early
		return
	}
	policy := t.Policy(s)
	op.Tries++
	op.Spent = spent(policy, op)
	op.Due = now.Add(Pause(policy, op.Tries, seed(t, s)))
	if op.Spent && s.Phase != txn.PhaseHook && s.Phase != txn.PhaseCheck {
		resetHook(&t.Progress[s.Branch].Hook)
	}
}

// spent reports whether no attempts are left. Where a policy sets no limit, there is one on
// answers that asking again does not change.
func spent(p txn.Policy, op *txn.Op) bool {
	if p.Attempts == 0 {
		return op.Lasting >= LastingAttempts
	}
	return op.Tries >= p.Attempts
}

// resetHook makes a hook answer anew: what it said was about another operation.
func resetHook(hook *txn.Op) {
	*hook = txn.Op{Calls: hook.Calls, InFlight: hook.InFlight}
}

// Renew gives an operation its attempts back, to be called now.
func Renew(op *txn.Op) {
	op.Tries, op.Lasting, op.Lacking = 0, 0, 0
	op.Spent, op.Held = false, false
	op.Due, op.Early = time.Time{}, time.Time{}
}
