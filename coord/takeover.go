package coord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/plan"
)

// Enlist adds branches to an open transaction. The branches and the status are one
// row, so a branch joins before the decision or not at all.
func (c *Coordinator) Enlist(ctx context.Context, id string, branches ...txn.Branch) error {
	return c.change(ctx, id, func(t *txn.Transaction) (bool, error) {
		if t.Status != txn.Open {
			return false, fmt.Errorf("enlist in %s (%s): %w", id, t.Status, txn.ErrDecided)
		}
		if c.expire(t) {
			return true, fmt.Errorf("enlist in %s (%s): %w", id, t.Reason, txn.ErrDecided)
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
		if err == nil {
			err = c.registered(&t.Definition, len(t.Branches)-added)
		}
		return err == nil, err
	})
}

// Commit decides an open transaction.
func (c *Coordinator) Commit(ctx context.Context, id string) error {
	return c.change(ctx, id, func(t *txn.Transaction) (bool, error) {
		switch t.Status {
		case txn.Open:
			if c.expire(t) {
				return true, fmt.Errorf("commit %s (%s): %w", id, t.Reason, txn.ErrDecided)
			}
			settle(t, txn.Plan{Decide: txn.Committing}, c.clock.now())
			return true, nil
		case txn.Committing, txn.Committed:
			return false, nil
		default:
			return false, fmt.Errorf("commit %s (%s): %w", id, t.Status, txn.ErrDecided)
		}
	})
}

// expire decides an open transaction whose deadline may be over by the store's clock, as
// its plan does. Participants know the deadline and may have let go; that nobody has looked
// at the transaction since must not matter.
func (c *Coordinator) expire(t *txn.Transaction) bool {
	now := c.clock.latest()
	if !plan.Late(t, now) {
		return false
	}
	p := c.plan(t, now)
	if p.Decide != "" {
		settle(t, p, now)
	}
	return p.Decide != ""
}

// RollBack decides an open or running transaction.
func (c *Coordinator) RollBack(ctx context.Context, id, reason string) error {
	return c.change(ctx, id, func(t *txn.Transaction) (bool, error) {
		switch t.Status {
		case txn.Open, txn.Running:
			if t.Recovery == txn.Forward {
				return false, fmt.Errorf("roll back %s (its recovery is forward): %w", id, txn.ErrDecided)
			}
			settle(t, txn.Plan{Decide: txn.RollingBack, Reason: excerpt(reason)}, c.clock.now())
			return true, nil
		case txn.RollingBack, txn.RolledBack:
			return false, nil
		default:
			return false, fmt.Errorf("roll back %s (%s): %w", id, t.Status, txn.ErrDecided)
		}
	})
}

// edit changes a transaction. It says whether there is anything to write, and what its
// caller is told: at once, or when it is written.
type edit func(t *txn.Transaction) (write bool, told error)

// draft is a changed transaction that is not written yet.
type draft struct {
	old   *driver.Record
	t     *txn.Transaction
	write bool
	told  error
}

// change takes a transaction over from whoever drives it, changes it, and drives
// it on. The new epoch shuts the former owner out in the same write. The function
// may be called again with fresher content.
func (c *Coordinator) change(ctx context.Context, id string, f edit) error {
	if err := c.ready(); err != nil {
		return err
	}
	if err := c.checker.ID(id); err != nil {
		return err
	}
	doubt := false
	for wait := firstWait; ; wait = longer(wait) {
		err := c.changeOnce(ctx, id, f)
		buried := errors.Is(err, errBuried)
		if !buried && !errors.Is(err, driver.ErrStale) {
			return inDoubt(id, doubt, err)
		}
		doubt = doubt || buried
		if !sleep(ctx, c.life, wait) {
			return &txn.InDoubtError{ID: id, Err: err}
		}
	}
}

// inDoubt says of an error after an earlier write whose fate is not known what it says
// about the transaction: nothing.
func inDoubt(id string, doubt bool, err error) error {
	if _, ok := errors.AsType[*txn.InDoubtError](err); err == nil || ok || !doubt {
		return err
	}
	return &txn.InDoubtError{ID: id, Err: err}
}

// errBuried marks a write that may have been made before somebody else made theirs.
var errBuried = errors.New("changed by somebody else, perhaps on top of this write")

// changeOnce tries a change. Where this coordinator drives the transaction it looks
// first whether there is anything to do, because a run that hands over breaks its
// calls off.
func (c *Coordinator) changeOnce(ctx context.Context, id string, f edit) error {
	if c.active.get(id) != nil {
		if d, err := c.draft(ctx, id, f); err != nil || !d.write {
			return cmp.Or(err, d.told)
		}
		if err := c.active.evict(ctx, id); err != nil {
			return err
		}
	}
	if done, err := c.changeRecent(ctx, id, f); done {
		return err
	}
	d, err := c.draft(ctx, id, f)
	if err != nil || !d.write {
		return cmp.Or(err, d.told)
	}
	return c.takeOver(ctx, d)
}

// changeRecent tries a change to what this coordinator has written last, without
// asking the store first. Only a write that the store takes proves that this was
// the latest; anything else is not done.
func (c *Coordinator) changeRecent(ctx context.Context, id string, f edit) (done bool, err error) {
	rec := c.recent.take(id)
	if rec == nil {
		return false, nil
	}
	d := c.redraft(rec, f)
	if d.told != nil || !d.write {
		return false, nil //nolint:nilerr // what the store has decides
	}
	err = c.takeOver(ctx, d)
	return !errors.Is(err, driver.ErrStale), err
}

// draft makes a change to what the store has, and does not write it.
func (c *Coordinator) draft(ctx context.Context, id string, f edit) (*draft, error) {
	rec, err := c.load(ctx, id)
	if err != nil {
		return &draft{}, err
	}
	return c.redraft(rec, f), nil
}

// redraft makes a change to a record. What no mode of this version can plan is left to
// coordinators that have one.
func (c *Coordinator) redraft(rec *driver.Record, f edit) *draft {
	t, complete, err := decode(rec)
	switch {
	case err != nil:
		return &draft{told: err}
	case c.modes[t.Mode] == nil:
		return &draft{told: fmt.Errorf("%s: mode %.40q is not known to this coordinator: %w", rec.ID, t.Mode, txn.ErrAction)}
	}
	if rec.Owner != "" || complete != rec.Epoch {
		doubt(t)
	}
	write, told := f(t)
	return &draft{old: rec, t: t, write: write, told: told}
}

// takeOver writes a changed transaction under a new epoch and drives it.
func (c *Coordinator) takeOver(ctx context.Context, d *draft) error {
	t := d.t
	rec, err := c.changed(d.old, t)
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
	if err := c.put(ctx, d.old.Version(), rec, lastMoment(d)); err != nil {
		if drive {
			x.drop()
		}
		return err
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
	return d.told
}

// put writes a change, again under the same condition until it is known whether it was
// made. What is late by then is not sent again, and stays in doubt.
func (c *Coordinator) put(ctx context.Context, was driver.Version, rec *driver.Record, until time.Time) error {
	for wait, sent := firstWait, false; ; wait, sent = longer(wait), true {
		err := c.putOnce(ctx, was, rec)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, driver.ErrStale):
			return c.overwritten(ctx, was, rec, sent)
		case errors.Is(err, driver.ErrRefused):
			return &txn.FieldError{Field: "transaction", Problem: err.Error()}
		}
		late := !until.IsZero() && !c.clock.latest().Before(until)
		if late || !sleep(ctx, c.life, wait) {
			return &txn.InDoubtError{ID: rec.ID, Err: err}
		}
	}
}

func (c *Coordinator) putOnce(ctx context.Context, was driver.Version, rec *driver.Record) error {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	return c.store.Update(ctx, was, rec)
}

// overwritten finds out who has written: this change itself, if it was sent before and
// its acknowledgement was lost, or somebody else.
func (c *Coordinator) overwritten(ctx context.Context, was driver.Version, rec *driver.Record, sent bool) error {
	if !sent {
		return driver.ErrStale
	}
	stored, err := c.load(ctx, rec.ID)
	switch {
	case err != nil:
		return &txn.InDoubtError{ID: rec.ID, Err: err}
	case isOwn(stored, was, rec):
		rec.Revision = stored.Revision
		return nil
	case stored.Revision > was.Revision+1:
		return errBuried
	default:
		return driver.ErrStale
	}
}

// lastMoment is when a change must have been sent; zero: any time. A transaction that
// its caller completes is rolled back at its deadline, so what goes forward comes
// before that.
func lastMoment(d *draft) time.Time {
	if d.old.Status == driver.Open && (d.t.Status == txn.Open || d.t.Status == txn.Committing) {
		return d.t.Deadline
	}
	return time.Time{}
}

// announce tells waiters of a change that was made from outside.
func (c *Coordinator) announce(t *txn.Transaction) {
	c.news.tell(t.ID)
	if t.Status.Final() || t.Parked != "" {
		c.news.final(t)
	}
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
	t.Epoch = old.Epoch + 1
	rec.State = encodeState(t, idle)
	rec.Spec, rec.Epoch, rec.Updated = spec, t.Epoch, now
	rec.Status, rec.Parked, rec.Waits, rec.Finished = t.Status, t.Parked, "", t.Finished
	switch {
	case t.Status.Final() || t.Parked != "":
		rec.Owner, rec.Due = "", time.Time{}
	case t.Status == txn.Open:
		rec.Owner, rec.Due = "", c.nextLook(t, now)
	default:
		rec.Owner, rec.Due = c.owner, now.Add(c.opts.Lease)
	}
	t.Owner = rec.Owner
	return &rec, nil
}

func sameBranch(a, b *txn.Branch) bool {
	x, errX := encode(a)
	y, errY := encode(b)
	return errX == nil && errY == nil && x == y
}
