package coord

import (
	"context"
	"fmt"

	"github.com/bedrock-go/bedrock/internal/printable"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/plan"
)

// Commit decides an open transaction.
func (c *Coordinator) Commit(ctx context.Context, id string) error {
	return c.changeTransaction(ctx, id, func(t *txn.Transaction) (bool, error) {
		switch t.Status {
		case txn.Open:
			if c.expireIfLate(t) {
				return true, fmt.Errorf("commit %s (%s): %w", id, t.Reason, txn.ErrDecided)
			}
			enterDecision(t, txn.Plan{Decide: txn.Committing}, c.clock.now())
			return true, nil
		case txn.Committing, txn.Committed:
			return false, nil
		default:
			return false, fmt.Errorf("commit %s (%s): %w", id, t.Status, notOpen(t.Status))
		}
	})
}

// notOpen is the error of what only an open transaction takes. One that runs is driven by
// its coordinator from the start, and may still end either way.
func notOpen(s txn.Status) error {
	if s == txn.Running {
		return txn.ErrAction
	}
	return txn.ErrDecided
}

// RollBack decides an open or running transaction. A reason is often what an error says, as
// long as that is, so what is more than [txn.MaxReason] bytes is left out and not refused.
func (c *Coordinator) RollBack(ctx context.Context, id, reason string) error {
	return c.changeTransaction(ctx, id, func(t *txn.Transaction) (bool, error) {
		switch t.Status {
		case txn.Open, txn.Running:
			if t.Recovery == txn.Forward {
				return false, fmt.Errorf("roll back %s (its recovery is forward): %w", id, txn.ErrDecided)
			}
			why := printable.Line(reason, txn.MaxReason)
			enterDecision(t, txn.Plan{Decide: txn.RollingBack, Reason: why}, c.clock.now())
			return true, nil
		case txn.RollingBack, txn.RolledBack:
			return false, nil
		default:
			return false, fmt.Errorf("roll back %s (%s): %w", id, t.Status, txn.ErrDecided)
		}
	})
}

// expireIfLate decides an open transaction as its plan does, if the deadline may be over by
// the store's clock, and reports whether it did. Participants know the deadline and may
// have let go, so it must not matter that nobody has looked at the transaction since.
func (c *Coordinator) expireIfLate(t *txn.Transaction) bool {
	now := c.clock.latest()
	if !plan.Late(t, now) {
		return false
	}
	p := c.planNext(t, now)
	if p.Decide != "" {
		enterDecision(t, p, now)
	}
	return p.Decide != ""
}
