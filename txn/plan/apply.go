package plan

import (
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/txn"
)

// Kind is what a participant answered.
type Kind string

const (
	// Done says that it has been done.
	Done Kind = "done"
	// Refused says that it was not done and will not be.
	Refused Kind = "refused"
	// Pending says that the participant is still working.
	Pending Kind = "pending"
	// Failed says that nobody knows whether it was done.
	Failed Kind = "failed"
	// Unreached says that it failed, and the participant has certainly not been asked.
	Unreached Kind = "unreached"
	// Held says that nobody was asked, because the target is known to be down. It counts as
	// no attempt.
	Held Kind = "held"
)

// Kinds lists what a participant may answer.
func Kinds() []Kind { return []Kind{Done, Refused, Pending, Failed, Unreached, Held} }

// Answer is how a call ended.
type Answer struct {
	Kind   Kind
	Result []byte
	Note   string
	// After is when to ask again, for Pending and Held.
	After time.Duration
	// Down says that the target as a whole seems to be down: it cannot be reached, or
	// does not answer in time. Enough of them open its breaker.
	Down bool
	// Lacking says, of what is Held, that this coordinator has nobody who can make the
	// call; others may have.
	Lacking bool
	// Unasked says, of what is Refused, that the participant was not asked: what earlier
	// calls may have done is still there.
	Unasked bool
	// BrokenOff says, of what is Pending, that the coordinator itself has ended the call: it
	// is as if it had not been made, but for what it may have done.
	BrokenOff bool
	// Lasting says that asking again will not change the answer, as with a participant
	// that does not exist, or takes the call for malformed.
	Lasting bool
}

// Apply enters an answer into the transaction.
func Apply(t *txn.Transaction, s txn.Step, a Answer, now time.Time) {
	op := t.Op(s)
	early := op.Early
	op.InFlight, op.Held, op.Early = false, false, time.Time{}
	op.Note, op.Lacking = a.Note, lacking(op, a)
	if !early.After(now) {
		insist(s, op, a)
	}
	switch a.Kind {
	case Done:
		op.Calls++
		settle(op, txn.Done)
		op.Result = a.Result
		if s.Phase == txn.PhaseHook {
			skip(&t.Progress[s.Branch])
		}
	case Refused:
		op.Calls++
		if a.Unasked && s.Phase == txn.PhaseDo {
			keepDoubt(&t.Progress[s.Branch])
		}
		refuse(t, s, op, early, now)
	case Pending:
		op.Calls++
		op.State = txn.Unsure
		op.Due = askAgain(a, early, now)
	case Failed:
		op.Calls++
		op.State = txn.Unsure
		fail(t, s, op, early, now)
	case Unreached:
		op.Calls++
		fail(t, s, op, early, now)
	case Held:
		hold(op, early, now.Add(putBack(t, s, op, a)))
	}
}

// askAgain is when what is not over yet is asked for again. A call that the coordinator has
// ended leaves the pause as it was in which it was made early.
func askAgain(a Answer, early, now time.Time) time.Time {
	if a.BrokenOff && early.After(now) {
		return early
	}
	return now.Add(min(orDefault(a.After, defaultPending), txn.MaxPending))
}

// lacking counts in a row how often nobody was there to make the call.
func lacking(op *txn.Op, a Answer) int {
	if !a.Lacking {
		return 0
	}
	return op.Lacking + 1
}

// putBack is how long what is held is nobody's to call. Where those who can are looked
// for, it is looked for less and less.
func putBack(t *txn.Transaction, s txn.Step, op *txn.Op, a Answer) time.Duration {
	if a.Lacking {
		return Pause(txn.Policy{Backoff: firstSearch, MaxBackoff: lastSearch}, op.Lacking, seed(t, s))
	}
	return orDefault(a.After, defaultPending)
}

// insist counts answers in a row that asking again does not change. A refusal of what
// cannot be refused is one.
func insist(s txn.Step, op *txn.Op, a Answer) {
	late := a.Kind == Refused && (s.Phase == txn.PhaseConfirm || s.Phase == txn.PhaseUndo)
	switch {
	case a.Kind == Held:
	case late || a.Lasting:
		op.Lasting++
	default:
		op.Lasting = 0
	}
}

// settle ends an operation.
func settle(op *txn.Op, state txn.OpState) {
	op.State, op.Tries, op.Lasting, op.Spent, op.Due = state, 0, 0, false, time.Time{}
}

// skip takes a hook's word: what has no attempts left counts as done. The hook may
// be asked again in a later phase.
func skip(p *txn.Progress) {
	for _, op := range []*txn.Op{&p.Do, &p.Confirm, &p.Undo} {
		if op.Spent {
			settle(op, txn.Skipped)
		}
	}
	p.Hook.State = txn.Idle
}

// refuse takes a refusal for what it is where one is possible. After the decision
// it is not: a participant that has promised cannot go back, so it is asked again.
func refuse(t *txn.Transaction, s txn.Step, op *txn.Op, early, now time.Time) {
	switch s.Phase {
	case txn.PhaseConfirm, txn.PhaseUndo:
		op.State, op.Note = txn.Unsure, strings.TrimSuffix("refused, which it cannot any more: "+op.Note, ": ")
		fail(t, s, op, early, now)
	default:
		settle(op, txn.Refused)
	}
}

// keepDoubt has a branch taken back that may have been done, and is refused all the same.
func keepDoubt(p *txn.Progress) {
	if p.Do.State == txn.Unsure {
		p.Undo.State = txn.Unsure
	}
}

// hold keeps back an operation that was not called. If it was its turn, it is when it
// is fetched; otherwise its own pause goes on.
func hold(op *txn.Op, early, until time.Time) {
	op.Due, op.Held = until, true
	if !early.IsZero() {
		op.Due, op.Held = early, false
	}
}

// Hurry lets an operation be called before it is due: one that was held back, because
// it is its turn, and one that has failed, early. What its participant has asked to
// wait for is not hurried.
func Hurry(op *txn.Op, now time.Time) {
	switch {
	case !op.Due.After(now):
	case op.Held:
		op.Due = time.Time{}
	case op.Tries > 0:
		op.Early, op.Due = op.Due, time.Time{}
	}
}

// fail counts a failure and says when to try again. An early call is a present: when
// it fails within the pause that it was made in, that pause goes on, and no attempt is
// used up.
func fail(t *txn.Transaction, s txn.Step, op *txn.Op, early, now time.Time) {
	if early.After(now) {
		op.Due = early
		return
	}
	policy := t.Policy(s)
	op.Tries++
	op.Spent = spent(policy, op)
	op.Due = now.Add(Pause(policy, op.Tries, seed(t, s)))
	if op.Spent && s.Phase != txn.PhaseHook && s.Phase != txn.PhaseCheck {
		forget(&t.Progress[s.Branch].Hook)
	}
}

// spent tells whether no attempts are left. Where there is no limit, answers that do not
// change have one.
func spent(p txn.Policy, op *txn.Op) bool {
	if p.Attempts == 0 {
		return op.Lasting >= LastingAttempts
	}
	return op.Tries >= p.Attempts
}

// forget makes a hook answer anew: what it said was about another operation.
func forget(hook *txn.Op) {
	*hook = txn.Op{Calls: hook.Calls, InFlight: hook.InFlight}
}

// Renew gives an operation its attempts back, to be called now.
func Renew(op *txn.Op) {
	op.Tries, op.Lasting, op.Lacking, op.Spent, op.Held, op.Due, op.Early = 0, 0, 0, false, false, time.Time{}, time.Time{}
}
