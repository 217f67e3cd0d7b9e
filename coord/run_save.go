package coord

import (
	"bytes"
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/coord/internal/record"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// save writes the transaction as it stands, on condition that nobody has written in
// between. It repeats that through failures of the store until it knows what became of it.
// False means that the transaction is somebody else's now, or that the coordinator stops
// and the store does not answer. With complete nothing is under way, and the run hands
// over.
func (r *run) save(complete bool) bool {
	rec := r.snapshot(complete)
	for wait := firstWait; ; wait = longer(wait) {
		err := r.c.update(r.c.calls, r.rec.Version(), rec)
		switch {
		case err == nil:
			r.keepSaved(rec)
			return true
		case errors.Is(err, driver.ErrStale):
			return r.findOvertaker(rec)
		case errors.Is(err, driver.ErrRefused):
			return r.saveWithoutResults(err)
		}
		if !r.c.sleepAlive(wait) {
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
	rec.Spec, rec.State = nil, record.EncodeState(r.tx, complete && len(r.flights) == 0)
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

// keepSaved takes over what was written.
func (r *run) keepSaved(rec *driver.Record) {
	r.rec = rec
	r.tx.Revision, r.tx.Updated = rec.Revision, rec.Updated
	r.written, r.dirty = rec.Updated, false
	r.c.news.tellChanged(r.tx.ID)
}

// findOvertaker finds out who has written: this run itself, in a write whose
// acknowledgement was lost, or somebody else, who then owns the transaction.
func (r *run) findOvertaker(rec *driver.Record) bool {
	stored, err := r.c.load(r.c.calls, r.tx.ID)
	if err == nil && isOwn(stored, r.rec.Version(), rec) {
		rec.Revision = stored.Revision
		r.keepSaved(rec)
		return true
	}
	if err != nil {
		r.c.opts.Logger.Warn("transaction was changed, and cannot be read; letting it go", "id", r.tx.ID, "err", err)
	} else {
		r.c.opts.Logger.Debug("transaction was taken over", "id", r.tx.ID, "epoch", rec.Epoch, "by", stored.Owner)
	}
	r.c.observe(Event{Kind: EventFenced, ID: r.tx.ID, Mode: r.tx.Mode, Name: r.tx.Name})
	return false
}

// isOwn reports whether the stored record is rec, written over version was: a write of our
// own, whose acknowledgement was lost.
func isOwn(stored *driver.Record, was driver.Version, rec *driver.Record) bool {
	next := driver.Version{Revision: was.Revision + 1, Epoch: rec.Epoch, Created: was.Created}
	return stored.Version() == next && stored.Owner == rec.Owner &&
		stored.Status == rec.Status && stored.Parked == rec.Parked && bytes.Equal(stored.State, rec.State) &&
		(rec.Spec == nil || bytes.Equal(stored.Spec, rec.Spec))
}

// saveProgress is how old unsaved progress may become. A quick transaction is
// written twice in its life; a slow one now and then, so that little is repeated
// after a crash.
const saveProgress = 250 * time.Millisecond
