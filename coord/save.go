package coord

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

const (
	// storeTimeout bounds one call to the store; the outcome is then found out.
	storeTimeout = 5 * time.Second
	firstWait    = 20 * time.Millisecond
	longestWait  = time.Second
)

func longer(wait time.Duration) time.Duration { return min(2*wait, longestWait) }

// sleep waits, unless one of the contexts ends before; it tells whether to go on.
func sleep(ctx, life context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	case <-life.Done():
		return false
	}
}

// save writes the transaction as it stands, on condition that nobody has written
// in between. It goes on through failures of the store until it knows; false means
// that the transaction is somebody else's now, or that the coordinator stops and
// the store does not answer. With complete the run hands over: nothing is under way.
func (r *run) save(complete bool) bool {
	rec := r.snapshot(complete)
	for wait := firstWait; ; wait = longer(wait) {
		err := r.c.update(r.rec.Version(), rec)
		switch {
		case err == nil:
			r.saved(rec)
			return true
		case errors.Is(err, driver.ErrStale):
			return r.overtaken(rec)
		case errors.Is(err, driver.ErrRefused):
			return r.shed(err)
		}
		if !r.c.pause(wait) {
			return false
		}
	}
}

// snapshot is the record to write.
func (r *run) snapshot(complete bool) *driver.Record {
	now := r.c.clock.now()
	rec := *r.rec
	rec.Status, rec.Parked, rec.Waits = r.tx.Status, r.tx.Parked, r.tx.Waits
	rec.Finished, rec.Updated = r.tx.Finished, now
	rec.Spec, rec.State = nil, encodeState(r.tx, complete && len(r.flights) == 0)
	switch {
	case r.tx.Status.Final() || r.tx.Parked != "":
		rec.Owner, rec.Due, rec.Waits = "", time.Time{}, ""
	case complete:
		rec.Owner, rec.Due = "", r.tx.Due
	default:
		rec.Due, rec.Waits = now.Add(r.c.opts.Lease), ""
	}
	return &rec
}

// saved takes over what was written.
func (r *run) saved(rec *driver.Record) {
	r.rec = rec
	r.tx.Revision, r.tx.Updated = rec.Revision, rec.Updated
	r.written, r.dirty = rec.Updated, false
	r.c.news.tell(r.tx.ID)
}

// overtaken finds out who has written: this run itself, in a write whose
// acknowledgement was lost, or somebody else, who then owns the transaction.
func (r *run) overtaken(rec *driver.Record) bool {
	stored, err := r.c.load(r.c.calls, r.tx.ID)
	if err == nil && isOwn(stored, r.rec.Version(), rec) {
		rec.Revision = stored.Revision
		r.saved(rec)
		return true
	}
	if err != nil {
		r.c.opts.Logger.Warn("transaction was changed, and cannot be read; letting it go", "id", r.tx.ID, "err", err)
	} else {
		r.c.opts.Logger.Debug("transaction was taken over", "id", r.tx.ID, "epoch", rec.Epoch, "by", stored.Owner)
	}
	r.c.opts.Observer.Observe(Event{Kind: Fenced, ID: r.tx.ID, Mode: r.tx.Mode, Name: r.tx.Name})
	return false
}

// isOwn tells whether what is stored is what was to be written over a version, by the
// very one who asks.
func isOwn(stored *driver.Record, was driver.Version, rec *driver.Record) bool {
	next := driver.Version{Revision: was.Revision + 1, Epoch: rec.Epoch, Created: was.Created}
	return stored.Version() == next && stored.Owner == rec.Owner &&
		stored.Status == rec.Status && stored.Parked == rec.Parked && bytes.Equal(stored.State, rec.State) &&
		(rec.Spec == nil || bytes.Equal(stored.Spec, rec.Spec))
}

// update makes one attempt at a conditional write.
func (c *Coordinator) update(was driver.Version, rec *driver.Record) error {
	ctx, cancel := context.WithTimeout(c.calls, storeTimeout)
	defer cancel()
	return c.trouble.saw(c.calls, toWrite, c.store.Update(ctx, was, rec))
}

// load reads a record, as often as it takes while the context lasts.
func (c *Coordinator) load(ctx context.Context, id string) (*driver.Record, error) {
	for wait := firstWait; ; wait = longer(wait) {
		rec, err := c.loadOnce(ctx, id)
		if err == nil || errors.Is(err, driver.ErrNotFound) || ctx.Err() != nil {
			return rec, err
		}
		if !sleep(ctx, c.life, wait) {
			return nil, err
		}
	}
}

func (c *Coordinator) loadOnce(ctx context.Context, id string) (*driver.Record, error) {
	bounded, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	rec, err := c.store.Load(bounded, id)
	return rec, known(id, c.trouble.saw(ctx, toRead, err))
}

// decided tells of a decision, and of the end.
func (c *Coordinator) decided(t *txn.Transaction) {
	e := Event{Kind: Decided, ID: t.ID, Mode: t.Mode, Name: t.Name, Status: t.Status, Reason: t.Reason}
	if t.Status.Final() {
		e.Kind, e.Took = Finished, t.Finished.Sub(t.Created)
		c.news.final(t)
	}
	c.opts.Observer.Observe(e)
}

// parked tells that a transaction needs a person.
func (c *Coordinator) parked(t *txn.Transaction) {
	c.opts.Logger.Warn("transaction is parked", "id", t.ID, "name", t.Name, "reason", t.Parked)
	c.opts.Observer.Observe(Event{Kind: Parked, ID: t.ID, Mode: t.Mode, Name: t.Name, Status: t.Status, Reason: t.Parked})
	c.news.final(t)
}
