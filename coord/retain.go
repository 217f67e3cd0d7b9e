package coord

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/bedrock-go/bedrock/coord/internal/record"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// retainBatchSize is how many transactions are deleted at once.
const retainBatchSize = 500

// retainTimeout bounds one call to the store about a batch: on a connection that has died
// silently it would never end, and nothing would be removed any more.
const retainTimeout = time.Minute

// removeOutdated deletes final transactions when their time is over.
func (c *Coordinator) removeOutdated() {
	every := min(max(c.opts.Retention.Keep/10, time.Second), time.Minute)
	for c.sleepAlive(c.jitter(every)) {
		for more := true; more; {
			n, err := c.retainBatch(c.life)
			if err != nil && c.life.Err() == nil {
				c.opts.Logger.Warn("old transactions are not removed", "err", err)
			}
			more = err == nil && n == retainBatchSize
		}
	}
}

// retainBatch archives and deletes some transactions that ended long enough ago.
func (c *Coordinator) retainBatch(ctx context.Context) (int, error) {
	records, err := c.listOutdated(ctx)
	if err != nil || len(records) == 0 {
		return 0, err
	}
	if err := c.archive(ctx, records); err != nil {
		return 0, err
	}
	refs := make([]driver.Ref, len(records))
	for i, rec := range records {
		refs[i] = driver.Ref{ID: rec.ID, Version: rec.Version()}
	}
	bounded, cancel := context.WithTimeout(ctx, retainTimeout)
	defer cancel()
	n, err := c.store.Delete(bounded, refs)
	if n > 0 {
		c.observe(Event{Kind: EventRemoved, Count: n})
	}
	return n, err
}

// listOutdated lists transactions that ended long enough ago.
func (c *Coordinator) listOutdated(ctx context.Context) ([]*driver.Record, error) {
	bounded, cancel := context.WithTimeout(ctx, retainTimeout)
	defer cancel()
	return c.store.List(bounded, driver.Query{
		FinishedBefore: c.clock.now().Add(-c.opts.Retention.Keep),
		Limit:          retainBatchSize, Brief: c.opts.Retention.Archive == nil,
	})
}

// archive hands over what is to be deleted. Of a record that cannot be decoded it hands
// over what the columns tell.
func (c *Coordinator) archive(ctx context.Context, records []*driver.Record) error {
	if c.opts.Retention.Archive == nil {
		return nil
	}
	batch := make([]*txn.Transaction, 0, len(records))
	for _, rec := range records {
		t, _, err := record.Decode(rec)
		if err != nil { // it would keep all others from being removed, for ever
			c.opts.Logger.Error("transaction is archived without its content", "id", rec.ID, "err", err)
			t = record.Head(rec)
			t.Reason = excerpt(err.Error())
		}
		batch = append(batch, t)
	}
	if err := c.giveToArchive(ctx, batch); err != nil {
		return fmt.Errorf("archive %d transactions: %w", len(batch), err)
	}
	return nil
}

// giveToArchive makes an error of the archive's panic: nothing is deleted then.
func (c *Coordinator) giveToArchive(ctx context.Context, batch []*txn.Transaction) (err error) {
	defer func() {
		if p := recover(); p != nil {
			c.opts.Logger.Error("archive panicked", "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return c.opts.Retention.Archive(ctx, batch)
}
