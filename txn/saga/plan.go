package saga

import (
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/check"
	"github.com/bedrock-go/bedrock/txn/plan"
)

// Name is what definitions call this mode.
const Name = "saga"

// Mode decides what comes next in a saga.
type Mode struct{}

// Name is "saga".
func (Mode) Name() string { return Name }

// Start lets a saga run at once; there is nothing to begin and complete later.
func (Mode) Start(begun bool) (txn.Status, bool) { return txn.Running, !begun }

// Phases are those in which participants are called.
func (Mode) Phases() []txn.Phase { return []txn.Phase{txn.PhaseDo, txn.PhaseUndo} }

// Op names the operations.
func (Mode) Op(p txn.Phase) string {
	switch p {
	case txn.PhaseDo:
		return "action"
	case txn.PhaseUndo:
		return "compensate"
	default:
		return string(p)
	}
}

// Fields say that a saga has steps.
func (Mode) Fields() map[string]string {
	return map[string]string{"branches": "steps", "do": "action", "undo": "compensate"}
}

// Check refuses what a saga has no use for.
func (Mode) Check(d *txn.Definition) error {
	switch {
	case len(d.Branches) == 0:
		return &txn.InvalidError{Field: "branches", Problem: "a saga needs at least one step"}
	case d.Recovery == txn.Forward && d.Timeout > 0:
		return &txn.InvalidError{Field: "timeout", Problem: neverBack}
	}
	if err := checkForward(d); err != nil {
		return err
	}
	return check.Only(d, check.Allowed{
		Parallel: true, Recovery: true, Timeout: true, Do: true, Undo: true,
		After: true, Use: true, Compensate: d.Recovery != txn.Forward,
	})
}

// neverBack is what forward recovery means.
const neverBack = "a saga with forward recovery is never rolled back"

// checkForward refuses to compensate where nothing ever is.
func checkForward(d *txn.Definition) error {
	if d.Recovery != txn.Forward {
		return nil
	}
	for i := range d.Branches {
		if p := d.Branches[i].Policy; p != nil && p.Then == txn.Compensate {
			return &txn.InvalidError{
				Field: fmt.Sprintf("branches[%d].policy.then", i), Problem: neverBack + "; want park or hook",
			}
		}
	}
	return nil
}

// Plan goes forward until everything is done, or back until everything is undone.
func (Mode) Plan(t *txn.Transaction, now time.Time) txn.Plan {
	if t.Status == txn.RollingBack {
		return back(t, now)
	}
	w := plan.Forward(t, now, parallel(t))
	switch {
	case w.Finished:
		return txn.Plan{Decide: txn.Committed}
	case t.Recovery == txn.Forward:
		return onward(t, w)
	case w.Refused >= 0:
		return txn.Plan{Decide: txn.RollingBack, Reason: plan.Why(t, txn.Step{Branch: w.Refused, Phase: txn.PhaseDo})}
	case plan.Late(t, now):
		return txn.Plan{Decide: txn.RollingBack, Reason: "not done in time"}
	case w.Spent != nil:
		return fallback(t, *w.Spent)
	default:
		return plan.Until(w.Plan(), t.Deadline)
	}
}

// fallback follows the step's own policy.
func fallback(t *txn.Transaction, s txn.Step) txn.Plan {
	if plan.Parks(t, s) {
		return txn.Plan{Park: plan.Why(t, s)}
	}
	return txn.Plan{Decide: txn.RollingBack, Reason: plan.Why(t, s)}
}

// onward never goes back: what cannot go forward is left to a person.
func onward(t *txn.Transaction, w plan.Walk) txn.Plan {
	switch {
	case w.Refused >= 0:
		return txn.Plan{Park: plan.Why(t, txn.Step{Branch: w.Refused, Phase: txn.PhaseDo})}
	case w.Spent != nil:
		return txn.Plan{Park: plan.Why(t, *w.Spent)}
	default:
		return w.Plan()
	}
}

func back(t *txn.Transaction, now time.Time) txn.Plan {
	w := plan.Backward(t, now, parallel(t), plan.Touched)
	switch {
	case w.Finished:
		return txn.Plan{Decide: txn.RolledBack, Reason: t.Reason}
	case w.Stuck():
		return txn.Plan{Park: plan.Why(t, *w.Spent)}
	default:
		return w.Plan()
	}
}

// parallel is the saga's limit: as much as its graph allows, up to 16 calls.
func parallel(t *txn.Transaction) int {
	if t.Parallel > 0 {
		return t.Parallel
	}
	return 16
}
