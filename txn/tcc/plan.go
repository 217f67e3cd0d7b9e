package tcc

import (
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/check"
	"github.com/bedrock-go/bedrock/txn/plan"
)

// Name is what definitions call this mode.
const Name = "tcc"

// DefaultTimeout is how long tries are held.
const DefaultTimeout = time.Minute

// Mode decides what comes next in a TCC transaction.
type Mode struct{}

// Name is "tcc".
func (Mode) Name() string { return Name }

// Start lets the coordinator call the tries itself, or leaves them to the caller
// of a transaction that was begun.
func (Mode) Start(begun bool) (txn.Status, bool) {
	if begun {
		return txn.Open, true
	}
	return txn.Running, true
}

// Phases are those in which participants are called.
func (Mode) Phases() []txn.Phase { return []txn.Phase{txn.PhaseDo, txn.PhaseConfirm, txn.PhaseUndo} }

// Op names the operations.
func (Mode) Op(p txn.Phase) string {
	switch p {
	case txn.PhaseDo:
		return "try"
	case txn.PhaseConfirm:
		return "confirm"
	case txn.PhaseUndo:
		return "cancel"
	default:
		return string(p)
	}
}

// Fields say that a branch is tried, and canceled.
func (Mode) Fields() map[string]string { return map[string]string{"do": "try", "undo": "cancel"} }

// Check refuses what TCC has no use for, and sets how long tries are held.
func (Mode) Check(d *txn.Definition) error {
	if d.Timeout == 0 {
		d.Timeout = DefaultTimeout
	}
	if err := checkTries(d); err != nil {
		return err
	}
	return check.Only(d, check.Allowed{
		Parallel: true, Timeout: true, Do: true, Confirm: true, Undo: true,
		After: true, Use: true, Compensate: true,
	})
}

// checkTries refuses tries that go by messages of their own: nobody would hear the answer,
// and they would arrive although the transaction is rolled back.
func checkTries(d *txn.Definition) error {
	for i := range d.Branches {
		if _, async := d.Branches[i].Do.Async(); async {
			return &txn.InvalidError{
				Field:   fmt.Sprintf("branches[%d].do", i),
				Problem: "cannot be sent through async:, which brings no answer; a confirm can",
			}
		}
	}
	return nil
}

// Plan tries all branches, decides, and tells them.
func (Mode) Plan(t *txn.Transaction, now time.Time) txn.Plan {
	switch t.Status {
	case txn.Open:
		return open(t, now)
	case txn.Running:
		return planTries(t, now)
	case txn.Committing:
		return planOutcome(t, plan.Confirm(t, now, parallel(t)), txn.Committed)
	default:
		return planOutcome(t, plan.Backward(t, now, parallel(t), touched), txn.RolledBack)
	}
}

// open waits for the caller's decision, and takes silence for a no.
func open(t *txn.Transaction, now time.Time) txn.Plan {
	if plan.Late(t, now) {
		return txn.Plan{Decide: txn.RollingBack, Reason: "not decided in time"}
	}
	return txn.Plan{Next: t.Deadline}
}

// planTries commits when all tries are done, if that is before the deadline: what was tried
// may have waited since for a person, or for a coordinator.
func planTries(t *txn.Transaction, now time.Time) txn.Plan {
	w := plan.Forward(t, now, parallel(t))
	switch {
	case w.Refused >= 0:
		return txn.Plan{Decide: txn.RollingBack, Reason: plan.Why(t, txn.Step{Branch: w.Refused, Phase: txn.PhaseDo})}
	case plan.Late(t, now):
		return txn.Plan{Decide: txn.RollingBack, Reason: lateReason(w)}
	case w.Finished:
		return txn.Plan{Decide: txn.Committing}
	case w.Spent == nil:
		return plan.Until(w.Plan(), t.Deadline)
	case plan.Parks(t, *w.Spent):
		return txn.Plan{Park: plan.Why(t, *w.Spent)}
	default:
		return txn.Plan{Decide: txn.RollingBack, Reason: plan.Why(t, *w.Spent)}
	}
}

// lateReason says what was missing at the deadline.
func lateReason(w plan.Walk) string {
	if w.Finished {
		return "not decided in time"
	}
	return "not all tries were done in time"
}

// planOutcome goes on until every branch knows.
func planOutcome(t *txn.Transaction, w plan.Walk, end txn.Status) txn.Plan {
	switch {
	case w.Finished:
		return txn.Plan{Decide: end, Reason: t.Reason}
	case w.Stuck():
		return txn.Plan{Park: plan.Why(t, *w.Spent)}
	default:
		return w.Plan()
	}
}

// touched reports whether a branch has something to cancel. Tries made by the caller
// are unknown here, so they count as made.
func touched(t *txn.Transaction, i int) bool {
	return t.Branches[i].Do == "" || plan.Touched(t, i)
}

func parallel(t *txn.Transaction) int {
	if t.Parallel > 0 {
		return t.Parallel
	}
	return 16
}
