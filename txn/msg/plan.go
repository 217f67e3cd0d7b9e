package msg

import (
	"time"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/check"
	"github.com/bedrock-go/bedrock/txn/plan"
)

// Name is what definitions call this mode.
const Name = "msg"

// Mode decides what comes next for a message.
type Mode struct{}

// Name is "msg".
func (Mode) Name() string { return Name }

// Start delivers a submitted message; one that was begun is prepared, and waits
// for its producer.
func (Mode) Start(begun bool) (txn.Status, bool) {
	if begun {
		return txn.Open, true
	}
	return txn.Committing, true
}

// Phases are those in which participants are called.
func (Mode) Phases() []txn.Phase { return []txn.Phase{txn.PhaseConfirm, txn.PhaseCheck} }

// Op names the operations.
func (Mode) Op(p txn.Phase) string {
	if p == txn.PhaseConfirm {
		return "deliver"
	}
	return string(p)
}

// Fields say that a message is delivered to somebody.
func (Mode) Fields() map[string]string {
	return map[string]string{"branches": "deliver", "confirm": "to"}
}

// Check refuses what a message has no use for.
func (Mode) Check(d *txn.Definition) error {
	if len(d.Branches) == 0 {
		return &txn.InvalidError{Field: "branches", Problem: "a message needs at least one receiver"}
	}
	if err := checkCheck(d); err != nil {
		return err
	}
	return check.Only(d, check.Allowed{
		Parallel: true, Timeout: true, Delay: true, Check: true, Confirm: true, Topic: true,
	})
}

// checkCheck refuses what would guess the producer's answer.
func checkCheck(d *txn.Definition) error {
	switch {
	case d.Check == nil:
		return nil
	case d.Timeout > 0:
		return &txn.InvalidError{Field: "timeout", Problem: "the producer decides, because there is a check"}
	case d.Check.Policy != nil && d.Check.Policy.Then != "" && d.Check.Policy.Then != txn.Park:
		return &txn.InvalidError{
			Field: "check.policy.then", Problem: "only park: nobody else knows what the producer did",
		}
	default:
		return nil
	}
}

// Plan asks the producer if it must, and then delivers.
func (Mode) Plan(t *txn.Transaction, now time.Time) txn.Plan {
	switch t.Status {
	case txn.Open:
		return prepared(t, now)
	case txn.RollingBack:
		return txn.Plan{Decide: txn.RolledBack, Reason: t.Reason}
	default:
		return deliver(t, now)
	}
}

// prepared waits for the producer's word, then asks for it. Without anybody to
// ask, silence until the deadline is a no.
func prepared(t *txn.Transaction, now time.Time) txn.Plan {
	if t.Check == nil {
		if plan.Late(t, now) {
			return txn.Plan{Decide: txn.RolledBack, Reason: "not submitted in time"}
		}
		return txn.Plan{Next: t.Deadline}
	}
	if due := t.Created.Add(checkAfter(t)); now.Before(due) {
		return txn.Plan{Next: due}
	}
	return askProducer(t, now)
}

func askProducer(t *txn.Transaction, now time.Time) txn.Plan {
	step := txn.Step{Branch: -1, Phase: txn.PhaseCheck}
	w := plan.One(t, step, now)
	switch {
	case t.Checked.State == txn.Done:
		return txn.Plan{Decide: txn.Committing}
	case t.Checked.State == txn.Refused:
		return txn.Plan{
			Decide: txn.RolledBack, Reason: "its producer says that the local transaction was not committed",
		}
	case w.Spent != nil:
		return txn.Plan{Park: plan.Why(t, step)}
	default:
		return w.Plan()
	}
}

func deliver(t *txn.Transaction, now time.Time) txn.Plan {
	if due := t.Decided.Add(t.Delay); now.Before(due) {
		return txn.Plan{Next: due}
	}
	w := plan.Confirm(t, now, parallel(t))
	switch {
	case w.Finished:
		return txn.Plan{Decide: txn.Committed}
	case w.Stuck():
		return txn.Plan{Park: plan.Why(t, *w.Spent)}
	default:
		return w.Plan()
	}
}

func checkAfter(t *txn.Transaction) time.Duration {
	if t.Check.After > 0 {
		return t.Check.After
	}
	return plan.DefaultCheckAfter
}

func parallel(t *txn.Transaction) int {
	if t.Parallel > 0 {
		return t.Parallel
	}
	return 16
}
