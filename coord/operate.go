package coord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/bedrock-go/bedrock/internal/printable"
	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/check"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/plan"
)

// Act intervenes in a transaction and records who did it and why: no reason, or one of more
// than [txn.MaxReason] bytes, is refused.
func (c *Coordinator) Act(ctx context.Context, id string, a txn.Action, reason string) error {
	if err := cmp.Or(check.Action(a), check.Reason(reason)); err != nil {
		return err
	}
	reason = printable.Line(reason, txn.MaxReason)
	if a == txn.ActRemove {
		return c.remove(ctx, id, reason)
	}
	act := c.intervention(a)
	err := c.changeTransaction(ctx, id, func(t *txn.Transaction) (bool, error) {
		if !act(t, reason) {
			return false, fmt.Errorf("%s %s (%s): %w; possible: %s",
				a, id, describeState(t), txn.ErrAction, strings.Join(c.possibleActions(t), ", "))
		}
		addAttempt(t, txn.Attempt{
			Op: "operator", At: c.clock.now(), Answer: string(a), Excerpt: reason, By: txn.Actor(ctx),
		})
		return true, nil
	})
	if damaged, ok := errors.AsType[*unreadableError](err); ok && a == txn.ActAbandon {
		return c.abandonUnreadable(ctx, damaged, reason)
	}
	if err == nil {
		c.opts.Logger.Debug("intervention", "id", id, "action", a, "reason", reason, "by", txn.Actor(ctx))
	}
	return err
}

// intervention returns what carries an action out, and reports whether it fits the
// transaction; nil for an action that there is none of.
func (c *Coordinator) intervention(a txn.Action) func(t *txn.Transaction, reason string) bool {
	switch a {
	case txn.ActRetry:
		return retry
	case txn.ActPark:
		return park
	case txn.ActResume:
		return resume
	case txn.ActCompensate:
		return c.compensate
	case txn.ActAbandon:
		return c.abandonParked
	default:
		return nil
	}
}

// possibleActions lists what fits the state of a transaction, which it leaves as it is.
func (c *Coordinator) possibleActions(t *txn.Transaction) []string {
	if t.Status.Final() {
		return []string{string(txn.ActRemove)}
	}
	var fit []string
	for _, a := range txn.Actions() {
		if act := c.intervention(a); act != nil && act(t.Clone(), "") {
			fit = append(fit, string(a))
		}
	}
	return fit
}

func retry(t *txn.Transaction, _ string) bool {
	if t.Status.Final() || t.Parked != "" {
		return false
	}
	renewAttempts(t)
	return true
}

func park(t *txn.Transaction, reason string) bool {
	if t.Status.Final() || t.Parked != "" {
		return false
	}
	t.Parked = "by hand: " + reason
	return true
}

func resume(t *txn.Transaction, _ string) bool {
	if t.Status.Final() || t.Parked == "" {
		return false
	}
	t.Parked = ""
	renewAttempts(t)
	return true
}

func (c *Coordinator) compensate(t *txn.Transaction, reason string) bool {
	if t.Status != txn.Open && t.Status != txn.Running || t.Recovery == txn.Forward {
		return false
	}
	enterDecision(t, txn.Plan{Decide: txn.RollingBack, Reason: "by hand: " + reason}, c.clock.now())
	return true
}

func (c *Coordinator) abandonParked(t *txn.Transaction, reason string) bool {
	if t.Status.Final() || t.Parked == "" {
		return false
	}
	enterDecision(t, txn.Plan{Decide: txn.InDoubt, Reason: "abandoned: " + reason}, c.clock.now())
	return true
}

// renewAttempts gives all operations their attempts back, to be called now. A refusal that
// parked the transaction may be asked again, too.
func renewAttempts(t *txn.Transaction) {
	for _, s := range t.Steps() {
		op := t.Op(s)
		if op.State == txn.Refused {
			op.State = txn.Idle
		}
		plan.Renew(op)
	}
}

// remove deletes a final transaction.
func (c *Coordinator) remove(ctx context.Context, id, reason string) error {
	if err := cmp.Or(checkContext(ctx), c.checker.ID(id)); err != nil {
		return err
	}
	if err := c.delete(ctx, id); err != nil {
		return fmt.Errorf("remove %s: %w", id, err)
	}
	c.observe(Event{Kind: EventRemoved, Count: 1})
	c.opts.Logger.Debug("intervention", "id", id, "action", txn.ActRemove, "reason", reason, "by", txn.Actor(ctx))
	return nil
}

// delete deletes a final transaction, and repeats that until it is known to be gone.
func (c *Coordinator) delete(ctx context.Context, id string) error {
	for wait, sent := firstWait, false; ; wait, sent = longer(wait), true {
		rec, err := c.load(ctx, id)
		switch {
		case sent && errors.Is(err, driver.ErrNotFound):
			return nil
		case err != nil:
			return inDoubt(id, sent, err)
		case !rec.Status.Final():
			return fmt.Errorf("%s: only what is final can be removed: %w", rec.Status, txn.ErrAction)
		}
		n, err := c.deleteOnce(ctx, rec)
		switch {
		case err == nil && n == 0:
			return inDoubt(id, sent, errors.Join(txn.ErrAction, driver.ErrStale))
		case err == nil:
			return nil
		}
		if !sleep.ForBoth(ctx, c.life, wait) {
			return &txn.InDoubtError{ID: id, Err: err}
		}
	}
}

func (c *Coordinator) deleteOnce(ctx context.Context, rec *driver.Record) (int, error) {
	bounded, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	n, err := c.store.Delete(bounded, []driver.Ref{{ID: rec.ID, Version: rec.Version()}})
	return n, c.trouble.noteResult(ctx, toWrite, err)
}

func describeState(t *txn.Transaction) string {
	if t.Parked != "" {
		return string(t.Status) + ", parked"
	}
	return string(t.Status)
}
