package coord

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// Enlist adds branches to an open transaction. The branches and the status are one
// row, so a branch joins before the decision or not at all.
func (c *Coordinator) Enlist(ctx context.Context, id string, branches ...txn.Branch) error {
	return c.change(ctx, id, func(t *txn.Transaction) (bool, error) {
		if t.Status != txn.Open {
			return false, fmt.Errorf("enlist in %s (%s): %w", id, t.Status, txn.ErrDecided)
		}
		added := 0
		for i := range branches {
			if j, ok := t.Branch(branches[i].ID); ok {
				if !sameBranch(&t.Branches[j], &branches[i]) {
					return false, &txn.FieldError{Field: "branches", Problem: fmt.Sprintf("%q is there already, with other content", branches[i].ID)}
				}
				continue
			}
			t.Branches = append(t.Branches, branches[i])
			added++
		}
		t.Progress = fit(t.Progress, len(t.Branches))
		if added == 0 {
			return false, nil
		}
		_, err := c.check(&t.Definition, true)
		return true, err
	})
}

// Commit decides an open transaction.
func (c *Coordinator) Commit(ctx context.Context, id string) error {
	return c.change(ctx, id, func(t *txn.Transaction) (bool, error) {
		switch t.Status {
		case txn.Open:
			settle(t, txn.Plan{Decide: txn.Committing}, c.clock.now())
			return true, nil
		case txn.Committing, txn.Committed:
			return false, nil
		default:
			return false, fmt.Errorf("commit %s (%s): %w", id, t.Status, txn.ErrDecided)
		}
	})
}

// RollBack decides an open or running transaction.
func (c *Coordinator) RollBack(ctx context.Context, id, reason string) error {
	return c.change(ctx, id, func(t *txn.Transaction) (bool, error) {
		switch t.Status {
		case txn.Open, txn.Running:
			settle(t, txn.Plan{Decide: txn.RollingBack, Reason: excerpt(reason)}, c.clock.now())
			return true, nil
		case txn.RollingBack, txn.RolledBack:
			return false, nil
		default:
			return false, fmt.Errorf("roll back %s (%s): %w", id, t.Status, txn.ErrDecided)
		}
	})
}

// change takes a transaction over from whoever drives it, changes it, and drives
// it on. The new epoch shuts the former owner out in the same write. The function
// may be called again with fresher content; it says whether there is anything to
// write.
func (c *Coordinator) change(ctx context.Context, id string, f func(t *txn.Transaction) (bool, error)) error {
	if err := c.ready(); err != nil {
		return err
	}
	if err := c.checker.ID(id); err != nil {
		return err
	}
	for wait := firstWait; ; wait = longer(wait) {
		err := c.changeOnce(ctx, id, f)
		again := errors.Is(err, driver.ErrStale) || errors.Is(err, errUnwritten)
		if !again {
			return err
		}
		if !sleep(ctx, c.life, wait) {
			return &txn.InDoubtError{ID: id, Err: err}
		}
	}
}

// errUnwritten marks a write of which nobody knows whether it was made.
var errUnwritten = errors.New("store does not answer")

// changeOnce tries a change. Where this coordinator drives the transaction it looks
// first whether there is anything to do, because a run that hands over breaks its
// calls off.
func (c *Coordinator) changeOnce(ctx context.Context, id string, f func(t *txn.Transaction) (bool, error)) error {
	if c.active.get(id) != nil {
		if _, _, write, err := c.draft(ctx, id, f); err != nil || !write {
			return err
		}
		if err := c.active.evict(ctx, id); err != nil {
			return err
		}
	}
	if done, err := c.changeRecent(ctx, id, f); done {
		return err
	}
	rec, t, write, err := c.draft(ctx, id, f)
	if err != nil || !write {
		return err
	}
	return c.takeOver(ctx, rec, t)
}

// changeRecent tries a change to what this coordinator has written last, without
// asking the store first. Only a write that the store takes proves that this was
// the latest; anything else is not done.
func (c *Coordinator) changeRecent(ctx context.Context, id string, f func(t *txn.Transaction) (bool, error)) (done bool, err error) {
	rec := c.recent.take(id)
	if rec == nil {
		return false, nil
	}
	t, write, err := redraft(rec, f)
	if err != nil || !write {
		return false, nil //nolint:nilerr // what the store has decides
	}
	err = c.takeOver(ctx, rec, t)
	return !errors.Is(err, driver.ErrStale), err
}

// draft makes a change to what the store has, and does not write it.
func (c *Coordinator) draft(ctx context.Context, id string, f func(t *txn.Transaction) (bool, error)) (
	rec *driver.Record, t *txn.Transaction, write bool, err error,
) {
	if rec, err = c.load(ctx, id); err != nil {
		return nil, nil, false, err
	}
	t, write, err = redraft(rec, f)
	return rec, t, write, err
}

func redraft(rec *driver.Record, f func(t *txn.Transaction) (bool, error)) (t *txn.Transaction, write bool, err error) {
	t, complete, err := decode(rec)
	if err != nil {
		return nil, false, err
	}
	if !complete {
		doubt(t)
	}
	write, err = f(t)
	return t, write, err
}

// takeOver writes a changed transaction under a new epoch and drives it.
func (c *Coordinator) takeOver(ctx context.Context, old *driver.Record, t *txn.Transaction) error {
	rec, err := c.changed(old, t)
	if err != nil {
		return err
	}
	x := newRun(c, t, rec)
	drive := rec.Owner != ""
	if drive {
		if _, ok := c.active.add(t.ID, x); !ok {
			drive, rec.Owner, rec.Due, rec.State = false, "", c.clock.now(), encodeState(t, true)
		}
	}
	bounded, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	err = c.store.Update(bounded, old.Version(), rec)
	if err != nil {
		if drive {
			x.drop()
		}
		return unwritten(err)
	}
	t.Revision = rec.Revision
	c.recent.keep(rec)
	c.announce(t)
	switch {
	case drive:
		x.start()
	case !rec.Due.After(rec.Updated):
		c.Nudge()
	}
	return nil
}

// announce tells waiters of a change that was made from outside.
func (c *Coordinator) announce(t *txn.Transaction) {
	c.news.tell(t.ID)
	if t.Status.Final() || t.Parked != "" {
		c.news.final(t)
	}
}

func unwritten(err error) error {
	if errors.Is(err, driver.ErrStale) {
		return err
	}
	return fmt.Errorf("%w: %w", errUnwritten, err)
}

// changed is the record of a transaction that was taken over. One that something
// is to be done about is owned by this coordinator from now on.
func (c *Coordinator) changed(old *driver.Record, t *txn.Transaction) (*driver.Record, error) {
	rec := *old
	now := c.clock.now()
	spec, _, err := encodeSpec(&t.Definition)
	if err != nil {
		return nil, err
	}
	idle := t.Status == txn.Open || t.Parked != "" || t.Status.Final()
	rec.State = encodeState(t, idle)
	rec.Spec, rec.Epoch, rec.Updated = spec, old.Epoch+1, now
	rec.Status, rec.Parked, rec.Waits, rec.Finished = t.Status, t.Parked, "", t.Finished
	switch {
	case t.Status.Final() || t.Parked != "":
		rec.Owner, rec.Due = "", time.Time{}
	case t.Status == txn.Open:
		rec.Owner, rec.Due = "", c.nextLook(t, now)
	default:
		rec.Owner, rec.Due = c.owner, now.Add(c.opts.Lease)
	}
	t.Epoch, t.Owner = rec.Epoch, rec.Owner
	return &rec, nil
}

func sameBranch(a, b *txn.Branch) bool {
	x, errX := encode(a)
	y, errY := encode(b)
	return errX == nil && errY == nil && x == y
}
