package plan_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/plan"
)

// one is a transaction of one branch with a policy.
func one(status txn.Status, p txn.Policy) *txn.Transaction {
	return &txn.Transaction{
		Definition: txn.Definition{
			ID: "t", Branches: []txn.Branch{{ID: "a", Do: "do", Confirm: "confirm", Undo: "undo", Policy: &p}},
			Check: &txn.Check{Target: "check"},
		},
		Status: status, Progress: make([]txn.Progress, 1),
	}
}

func hook(i int) txn.Step { return txn.Step{Branch: i, Phase: txn.PhaseHook} }

// What each answer makes of an operation that has not been called yet.
func TestApply(t *testing.T) {
	policy := txn.Policy{Backoff: 4 * time.Second, Attempts: 2}
	second := start.Add(time.Second)
	retry := start.Add(plan.Pause(policy, 1, 0)) // only roughly: the jitter is another
	const tooLate = "refused, which it cannot any more"
	tests := map[string]struct {
		step   txn.Step
		answer txn.Answer
		want   txn.Op
	}{
		"done": {
			do(0),
			txn.Answer{Kind: txn.AnswerDone, Result: []byte("1")},
			txn.Op{State: txn.Done, Calls: 1, Result: []byte("1")},
		},
		"refused": {
			do(0), txn.Answer{Kind: txn.AnswerRefused, Note: "no"}, txn.Op{State: txn.Refused, Calls: 1, Note: "no"},
		},
		"check refused": {producer(), txn.Answer{Kind: txn.AnswerRefused}, txn.Op{State: txn.Refused, Calls: 1}},
		"confirm refused": {
			confirm(0),
			txn.Answer{Kind: txn.AnswerRefused},
			txn.Op{State: txn.Unsure, Calls: 1, Tries: 1, Lasting: 1, Note: tooLate, Due: retry},
		},
		"undo refused": {
			undo(0),
			txn.Answer{Kind: txn.AnswerRefused},
			txn.Op{State: txn.Unsure, Calls: 1, Tries: 1, Lasting: 1, Note: tooLate, Due: retry},
		},
		"pending": {
			do(0),
			txn.Answer{Kind: txn.AnswerPending, After: time.Minute},
			txn.Op{State: txn.Unsure, Calls: 1, Due: start.Add(time.Minute)},
		},
		"pending, default": {
			do(0), txn.Answer{Kind: txn.AnswerPending}, txn.Op{State: txn.Unsure, Calls: 1, Due: second},
		},
		"failed": {
			do(0),
			txn.Answer{Kind: txn.AnswerFailed, Note: "x"},
			txn.Op{State: txn.Unsure, Calls: 1, Tries: 1, Note: "x", Due: retry},
		},
		"unreached": {do(0), txn.Answer{Kind: txn.AnswerUnreached}, txn.Op{Calls: 1, Tries: 1, Due: retry}},
		"held": {
			do(0),
			txn.Answer{Kind: txn.AnswerHeld, After: time.Minute},
			txn.Op{Due: start.Add(time.Minute), Held: true},
		},
		"held, default": {do(0), txn.Answer{Kind: txn.AnswerHeld}, txn.Op{Due: second, Held: true}},
	}
	about := cmp.Comparer(func(a, b time.Time) bool { return a.Sub(b).Abs() <= time.Second })
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			tx := one(txn.Running, policy)
			tx.Op(test.step).InFlight = true
			plan.Apply(tx, test.step, test.answer, start)
			if diff := cmp.Diff(test.want, *tx.Op(test.step), about); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A branch whose outcome was unknown stays so when it cannot be reached later.
func TestUnreachedForgetsNothing(t *testing.T) {
	tx := one(txn.Running, txn.Policy{})
	plan.Apply(tx, do(0), txn.Answer{Kind: txn.AnswerFailed}, start)
	plan.Apply(tx, do(0), txn.Answer{Kind: txn.AnswerUnreached}, start)
	if !plan.Touched(tx, 0) {
		t.Error("a branch that may have been done is taken for untouched")
	}
}

// A branch whose outcome was unknown stays so, too, when it is refused by a coordinator
// that cannot describe the call any more.
func TestRefusedUnaskedForgetsNothing(t *testing.T) {
	for name, test := range map[string]struct {
		before []txn.Answer
		want   bool
	}{
		"never called": {nil, false},
		"called":       {[]txn.Answer{{Kind: txn.AnswerFailed}}, true},
		"refused":      {[]txn.Answer{{Kind: txn.AnswerFailed}, {Kind: txn.AnswerRefused}}, false},
	} {
		tx := one(txn.Running, txn.Policy{})
		for _, a := range test.before {
			plan.Apply(tx, do(0), a, start)
		}
		plan.Apply(tx, do(0), txn.Answer{Kind: txn.AnswerRefused, Unasked: true}, start)
		if p := &tx.Progress[0]; p.Do.State != txn.Refused || plan.Touched(tx, 0) != test.want {
			t.Errorf("%s: %s, touched %v", name, p.Do.State, plan.Touched(tx, 0))
		}
	}
}

func TestAttemptsAreUsedUp(t *testing.T) {
	tx := one(txn.Running, txn.Policy{Attempts: 3})
	for n := range 3 {
		if tx.Progress[0].Do.Spent {
			t.Fatalf("spent after %d failures", n)
		}
		plan.Apply(tx, do(0), txn.Answer{Kind: txn.AnswerFailed}, start)
		plan.Apply(tx, do(0), txn.Answer{Kind: txn.AnswerPending}, start) // counts for nothing
		plan.Apply(tx, do(0), txn.Answer{Kind: txn.AnswerHeld}, start)
	}
	op := &tx.Progress[0].Do
	if !op.Spent || op.Tries != 3 || op.Calls != 6 {
		t.Errorf("after three failures: %+v", op)
	}
	plan.Renew(op)
	if op.Spent || op.Tries != 0 || !op.Due.IsZero() || op.Calls != 6 || op.State != txn.Unsure {
		t.Errorf("renewed: %+v", op)
	}
}

// An early call is a present: when it fails, or is not made after all, the pause goes on
// and no attempt is used up. One that fails when the pause is over is an attempt.
func TestAnEarlyCallIsNoAttempt(t *testing.T) {
	policy := txn.Policy{Backoff: time.Minute, Attempts: 2}
	for name, test := range map[string]struct {
		answer txn.Answer
		after  time.Duration
		want   bool // the pause goes on
	}{
		"failed":            {txn.Answer{Kind: txn.AnswerFailed}, time.Second, true},
		"unreached":         {txn.Answer{Kind: txn.AnswerUnreached}, time.Second, true},
		"held":              {txn.Answer{Kind: txn.AnswerHeld, After: time.Hour}, time.Second, true},
		"failed, too late":  {txn.Answer{Kind: txn.AnswerFailed}, time.Minute, false},
		"the pause is over": {txn.Answer{Kind: txn.AnswerFailed}, 2 * time.Minute, false},
	} {
		t.Run(name, func(t *testing.T) {
			tx := one(txn.Running, policy)
			plan.Apply(tx, do(0), txn.Answer{Kind: txn.AnswerFailed}, start)
			op := tx.Op(do(0))
			due := op.Due
			plan.Hurry(op, start)
			if !op.Due.IsZero() {
				t.Fatalf("not hurried: %+v", op)
			}
			plan.Apply(tx, do(0), test.answer, start.Add(test.after))
			if goesOn := op.Tries == 1 && op.Due.Equal(due) && !op.Spent && !op.Held; goesOn != test.want ||
				!op.Early.IsZero() {
				t.Errorf("was due %v, now %+v", due, op)
			}
		})
	}
}

// Whose turn it was when its target was found to be down gets an ordinary call; who was
// asked to wait by its participant is left alone.
func TestHurry(t *testing.T) {
	for name, test := range map[string]struct {
		answer txn.Answer
		want   bool
	}{
		"held":    {txn.Answer{Kind: txn.AnswerHeld, After: time.Minute}, true},
		"pending": {txn.Answer{Kind: txn.AnswerPending, After: time.Minute}, false},
	} {
		t.Run(name, func(t *testing.T) {
			tx := one(txn.Running, txn.Policy{})
			plan.Apply(tx, do(0), test.answer, start)
			op := tx.Op(do(0))
			if plan.Hurry(op, start); op.Due.IsZero() != test.want || !op.Early.IsZero() {
				t.Errorf("%+v", op)
			}
		})
	}
}

// A hook that says done makes the operation count as done.
func TestHookDone(t *testing.T) {
	tx := one(txn.Running, txn.Policy{Attempts: 1, Then: txn.Hook, Hook: "hook"})
	plan.Apply(tx, do(0), txn.Answer{Kind: txn.AnswerFailed}, start)
	w := plan.Forward(tx, start, 16)
	if diff := cmp.Diff([]txn.Step{hook(0)}, w.Run); diff != "" {
		t.Fatal(diff)
	}
	plan.Apply(tx, hook(0), txn.Answer{Kind: txn.AnswerDone}, start)
	if got := tx.Progress[0].Do.State; got != txn.Skipped {
		t.Errorf("the operation is %q", got)
	}
	if w := plan.Forward(tx, start, 16); !w.Finished {
		t.Errorf("not finished: %+v", w)
	}
}

// What a hook said about the way forward does not count for the way back.
func TestHookIsAskedAnew(t *testing.T) {
	tx := one(txn.Running, txn.Policy{Attempts: 1, Then: txn.Hook, Hook: "hook"})
	plan.Apply(tx, do(0), txn.Answer{Kind: txn.AnswerFailed}, start)
	plan.Apply(tx, hook(0), txn.Answer{Kind: txn.AnswerRefused}, start)
	if w := plan.Forward(tx, start, 16); w.Spent == nil || *w.Spent != do(0) {
		t.Fatalf("refused by the hook: %+v", w)
	}
	tx.Status = txn.RollingBack
	plan.Apply(tx, undo(0), txn.Answer{Kind: txn.AnswerFailed}, start)
	w := plan.Backward(tx, start, 16, plan.Touched)
	if diff := cmp.Diff([]txn.Step{hook(0)}, w.Run); diff != "" {
		t.Fatal(diff)
	}
	plan.Apply(tx, hook(0), txn.Answer{Kind: txn.AnswerRefused}, start)
	if w := plan.Backward(tx, start, 16, plan.Touched); !w.Stuck() || *w.Spent != undo(0) {
		t.Errorf("refused by the hook: %+v", w)
	}
}

// Undoing waits for a hook that is still asked about going forward.
func TestUndoWaitsForTheHook(t *testing.T) {
	tx := one(txn.RollingBack, txn.Policy{Attempts: 1, Then: txn.Hook, Hook: "hook"})
	plan.Apply(tx, do(0), txn.Answer{Kind: txn.AnswerFailed}, start)
	tx.Progress[0].Hook.InFlight = true
	if w := plan.Backward(tx, start, 16, plan.Touched); len(w.Run) > 0 || w.Finished || w.Stuck() {
		t.Errorf("beside the hook: %+v", w)
	}
}

// While another call is under way or due, a spent one does not make it stuck.
func TestStuck(t *testing.T) {
	tx := &txn.Transaction{
		Definition: txn.Definition{Branches: []txn.Branch{
			{ID: "a", Undo: "undo", Policy: &txn.Policy{Attempts: 1}}, {ID: "b", Undo: "undo"},
		}},
		Status: txn.RollingBack, Progress: make([]txn.Progress, 2),
	}
	all := func(*txn.Transaction, int) bool { return true }
	plan.Apply(tx, undo(0), txn.Answer{Kind: txn.AnswerFailed}, start)
	if w := plan.Backward(tx, start, 16, all); w.Stuck() || len(w.Run) != 1 {
		t.Errorf("with a call to make: %+v", w)
	}
	tx.Progress[1].Undo.InFlight = true
	if w := plan.Backward(tx, start, 16, all); w.Stuck() {
		t.Errorf("with a call under way: %+v", w)
	}
	plan.Apply(tx, undo(1), txn.Answer{Kind: txn.AnswerFailed}, start)
	if w := plan.Backward(tx, start, 16, all); w.Stuck() || w.Next.IsZero() {
		t.Errorf("with a call that is due later: %+v", w)
	}
	plan.Apply(tx, undo(1), txn.Answer{Kind: txn.AnswerDone}, start)
	w := plan.Backward(tx, start, 16, all)
	if !w.Stuck() || w.Finished {
		t.Errorf("with nothing else to do: %+v", w)
	}
	if got, want := plan.Why(tx, *w.Spent), "a failed"; got != want {
		t.Errorf("why: %q, want %q", got, want)
	}
}

func TestWhy(t *testing.T) {
	tx := one(txn.Open, txn.Policy{})
	plan.Apply(tx, do(0), txn.Answer{Kind: txn.AnswerRefused, Note: "sold out"}, start)
	if got, want := plan.Why(tx, do(0)), "a was refused: sold out"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	tx.Checked = txn.Op{Spent: true, Tries: 3, Note: "no route"}
	if got, want := plan.Why(tx, producer()), "check failed 3 times: no route"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestAParticipantPutsItsTransactionOffForEver: however long it asks for, it is asked again
// in a day.
func TestAParticipantPutsItsTransactionOffForEver(t *testing.T) {
	tx := &txn.Transaction{
		Definition: txn.Definition{Branches: make([]txn.Branch, 1)}, Progress: make([]txn.Progress, 1),
	}
	step, now := txn.Step{Phase: txn.PhaseDo}, time.Unix(1e9, 0)
	plan.Apply(tx, step, txn.Answer{Kind: txn.AnswerPending, After: math.MaxInt64}, now)
	if due := tx.Op(step).Due; !due.Equal(now.Add(24 * time.Hour)) {
		t.Errorf("asked again at %v", due)
	}
}

// TestPendingWithoutAUnit: 30, meant as 30 s, is no pause at all, so it counts as nothing said.
func TestPendingWithoutAUnit(t *testing.T) {
	for after, pause := range map[time.Duration]time.Duration{
		30: time.Second, time.Millisecond - 1: time.Second, time.Millisecond: time.Millisecond, -1: time.Second,
	} {
		tx := one(txn.Running, txn.Policy{})
		plan.Apply(tx, do(0), txn.Answer{Kind: txn.AnswerPending, After: after}, start)
		if due := tx.Op(do(0)).Due; !due.Equal(start.Add(pause)) {
			t.Errorf("%v: asked again after %v, want %v", after, due.Sub(start), pause)
		}
	}
}
