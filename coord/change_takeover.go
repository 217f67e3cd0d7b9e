package coord

import (
	"context"
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/coord/internal/record"
	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// takeOver writes a changed transaction under a new epoch and drives it.
func (c *Coordinator) takeOver(ctx context.Context, d *draft) error {
	t := d.t
	rec, err := c.changedRecord(d)
	if err != nil {
		return err
	}
	x := newRun(c, t, rec)
	drive := rec.Owner != ""
	if drive {
		if _, ok := c.active.add(t.ID, x); ok {
			defer x.dropUnlessStarted()
		} else {
			drive, rec.Owner, rec.Due, rec.State = false, "", c.clock.now(), record.EncodeState(t, true)
		}
	}
	if err := c.writeChange(ctx, d.old.Version(), rec, lastMoment(d)); err != nil {
		return err
	}
	t.Revision = rec.Revision
	c.recent.remember(rec)
	c.tellChange(d)
	switch {
	case drive:
		x.start()
	case !rec.Due.After(rec.Updated):
		c.Nudge()
	}
	return d.told
}

// changedRecord is the record of a transaction that was taken over. If there is something
// to be done, this coordinator owns it from now on.
func (c *Coordinator) changedRecord(d *draft) (*driver.Record, error) {
	old, t := d.old, d.t
	rec := *old
	now := c.clock.now()
	if d.grown {
		spec, _, err := record.EncodeSpec(&t.Definition)
		if err != nil {
			return nil, err
		}
		rec.Spec = spec
	}
	idle := t.Status == txn.Open || t.Parked != "" || t.Status.Final()
	t.Epoch = old.Epoch + 1
	rec.State = record.EncodeState(t, idle)
	rec.Epoch, rec.Updated = t.Epoch, now
	rec.Status, rec.Parked, rec.Waits, rec.Finished = t.Status, t.Parked, "", t.Finished
	switch {
	case t.Status.Final() || t.Parked != "":
		rec.Owner, rec.Due = "", time.Time{}
	case t.Status == txn.Open:
		rec.Owner, rec.Due = "", c.nextDue(t, now)
	default:
		rec.Owner, rec.Due = c.owner, now.Add(c.opts.Lease)
	}
	t.Owner = rec.Owner
	return &rec, nil
}

// writeChange writes a change, and repeats that under the same condition until it is known
// whether it was made. It sends nothing after a last moment; what is not known by then
// stays in doubt.
func (c *Coordinator) writeChange(ctx context.Context, was driver.Version, rec *driver.Record, until time.Time) error {
	for wait, sent := firstWait, false; ; wait, sent = longer(wait), true {
		err := c.update(ctx, was, rec)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, driver.ErrStale):
			return c.findWriter(ctx, was, rec, sent)
		case errors.Is(err, driver.ErrRefused):
			return &txn.InvalidError{Field: "transaction", Problem: err.Error()}
		}
		late := !until.IsZero() && !c.clock.latest().Before(until)
		if late || !sleep.ForBoth(ctx, c.life, wait) {
			return &txn.InDoubtError{ID: rec.ID, Err: err}
		}
	}
}

// findWriter finds out who has written: this change itself, if it was sent before and
// its acknowledgement was lost, or somebody else.
func (c *Coordinator) findWriter(ctx context.Context, was driver.Version, rec *driver.Record, sent bool) error {
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

// tellChange tells waiters and observers of a change that was made from outside.
func (c *Coordinator) tellChange(d *draft) {
	c.news.tellChanged(d.t.ID)
	switch {
	case d.t.Status != d.old.Status:
		c.tellDecision(d.t)
	case d.t.Parked != "" && d.old.Parked == "":
		c.observeParked(d.t) // who did it knows, and is on record: it is not logged
	case d.t.Parked != "":
		c.news.tellFinal(d.t)
	}
}
