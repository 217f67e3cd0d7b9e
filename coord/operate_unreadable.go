package coord

import (
	"context"
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/coord/internal/record"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// unreadableError is a record that cannot be decoded, in the words of the error.
type unreadableError struct {
	error

	rec *driver.Record
}

// Unwrap is why it cannot be decoded.
func (e *unreadableError) Unwrap() error { return e.error }

// abandonUnreadable ends a parked transaction that cannot be decoded: it would be parked for ever,
// and the oldest that is not final. Only its columns are written, so that what is in it is still
// there for whoever can make sense of it, until it is removed. Nothing in it can tell who did that.
func (c *Coordinator) abandonUnreadable(ctx context.Context, e *unreadableError, reason string) error {
	if e.rec.Status.Final() || e.rec.Parked == "" {
		return e
	}
	rec, now := *e.rec, c.clock.now()
	rec.Status, rec.Parked, rec.Waits, rec.Finished, rec.Updated = txn.InDoubt, "", "", now, now
	rec.Owner, rec.Due, rec.Epoch = "", time.Time{}, rec.Epoch+1
	err := c.writeChange(ctx, e.rec.Version(), &rec, time.Time{})
	if errors.Is(err, driver.ErrStale) || errors.Is(err, errBuried) {
		return &txn.InDoubtError{ID: rec.ID, Err: err}
	}
	if err == nil {
		c.opts.Logger.Warn("transaction that cannot be read is abandoned",
			"id", rec.ID, "reason", reason, "by", txn.Actor(ctx), "err", e.error)
		c.tellChange(&draft{old: e.rec, t: record.Head(&rec)})
	}
	return err
}
