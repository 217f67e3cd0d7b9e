package coord

import (
	"context"
	"errors"
	"fmt"

	"github.com/bedrock-go/bedrock/coord/internal/record"
	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// edit changes a transaction. It reports whether there is anything to write, and what its
// caller is told: after the write, if there is one.
type edit func(t *txn.Transaction) (write bool, told error)

// draft is a changed transaction that is not written yet.
type draft struct {
	old   *driver.Record
	t     *txn.Transaction
	grown bool // the definition is another one
	write bool
	told  error
}

// changeTransaction takes a transaction over from whoever drives it, changes it, and drives
// it on. The new epoch shuts the former owner out in the same write. The function
// may be called again with fresher content.
func (c *Coordinator) changeTransaction(ctx context.Context, id string, f edit) error {
	if err := c.checkRunning(ctx); err != nil {
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
		if !sleep.ForBoth(ctx, c.life, wait) {
			return &txn.InDoubtError{ID: id, Err: err}
		}
	}
}

// inDoubt turns an error into an InDoubtError where an earlier write may have been made:
// then the error says nothing about the transaction.
func inDoubt(id string, doubt bool, err error) error {
	if _, ok := errors.AsType[*txn.InDoubtError](err); err == nil || ok || !doubt {
		return err
	}
	return &txn.InDoubtError{ID: id, Err: err}
}

// errBuried says that nobody can tell whether a write was made, because somebody else has
// written since.
var errBuried = errors.New("changed by somebody else, perhaps on top of this write")

// changeOnce tries a change. Where this coordinator drives the transaction it looks
// first whether there is anything to do, because a run that hands over breaks its
// calls off.
func (c *Coordinator) changeOnce(ctx context.Context, id string, f edit) error {
	if c.active.get(id) != nil {
		if d := c.draftChange(ctx, id, f); !d.write {
			return d.told
		}
		if err := c.active.evict(ctx, id); err != nil {
			return err
		}
	}
	if done, err := c.changeRecent(ctx, id, f); done {
		return err
	}
	d := c.draftChange(ctx, id, f)
	if !d.write {
		return d.told
	}
	return c.takeOver(ctx, d)
}

// changeRecent tries a change to what this coordinator has written last, without asking the
// store first. Only a write that the store takes proves that this was the latest. It
// reports whether the change is through: what the edit refuses, or the store finds stale,
// must be tried on what the store has.
func (c *Coordinator) changeRecent(ctx context.Context, id string, f edit) (done bool, err error) {
	rec := c.recent.recall(id)
	if rec == nil {
		return false, nil
	}
	d := c.draftOn(rec, f)
	if d.told != nil || !d.write {
		return false, nil //nolint:nilerr // what the store has decides
	}
	err = c.takeOver(ctx, d)
	return !errors.Is(err, driver.ErrStale), err
}

// draftChange makes a change to what the store has, and does not write it.
func (c *Coordinator) draftChange(ctx context.Context, id string, f edit) *draft {
	rec, err := c.load(ctx, id)
	if err != nil {
		return &draft{told: err}
	}
	return c.draftOn(rec, f)
}

// draftOn makes a change to a record. A transaction of a mode that is not known here is
// left to coordinators that know it.
func (c *Coordinator) draftOn(rec *driver.Record, f edit) *draft {
	t, complete, err := record.Decode(rec)
	switch {
	case err != nil:
		return &draft{told: &unreadableError{err, rec}}
	case c.modes[t.Mode] == nil:
		return &draft{
			told: fmt.Errorf("%s: mode %.40q is not known to this coordinator: %w", rec.ID, t.Mode, txn.ErrAction),
		}
	}
	if rec.Owner != "" || complete != rec.Epoch {
		markUnsure(t)
	}
	before := len(t.Branches)
	write, told := f(t)
	return &draft{old: rec, t: t, grown: len(t.Branches) != before, write: write, told: told}
}
