package coord

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/coord/internal/record"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// A waiter asks the store what has become of a transaction that another replica may
// be driving: soon at first, and then ever less often.
const (
	askStore      = 250 * time.Millisecond
	askStoreLater = 2 * time.Second
)

// Wait returns when a transaction is final or parked.
func (c *Coordinator) Wait(ctx context.Context, id string) (txn.Result, error) {
	if err := cmp.Or(c.checkRunning(ctx), c.checker.ID(id)); err != nil {
		return txn.Result{ID: id, Outcome: txn.InDoubt}, err
	}
	heard := c.news.listen(id)
	defer c.news.unlisten(id, heard)
	return c.awaitOutcome(ctx, id, heard, c.active.get(id) == nil)
}

// awaitOutcome waits for the end of a transaction. With ask it looks at the store first,
// because the end may have come before heard was listening, or may come on another replica.
func (c *Coordinator) awaitOutcome(ctx context.Context, id string, heard *listener, ask bool) (txn.Result, error) {
	pause := askStore
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		if ask {
			t, err := c.loadIfEnded(ctx, id)
			if t != nil || errors.Is(err, driver.ErrNotFound) {
				return outcomeOf(id, t, err)
			}
			if c.life.Err() != nil && len(heard.end) == 0 { // select would leave it to chance whether to ask again
				return outcomeOf(id, nil, &txn.InDoubtError{ID: id, Err: txn.ErrClosed})
			}
		}
		var gone error
		select {
		case t := <-heard.end:
			return outcomeOf(id, t, nil)
		case <-timer.C:
			ask = c.active.get(id) == nil
			pause = min(2*pause, askStoreLater)
			timer.Reset(pause)
		case <-ctx.Done():
			gone = context.Cause(ctx)
		case <-c.life.Done():
			gone = txn.ErrClosed
		}
		select {
		case t := <-heard.end: // it has come together with something else, and counts for more
			return outcomeOf(id, t, nil)
		default:
		}
		if gone != nil {
			return outcomeOf(id, nil, &txn.InDoubtError{ID: id, Err: gone})
		}
	}
}

// loadIfEnded reads a transaction if it is final or parked; otherwise, or if the store
// fails, there is none, and the caller asks again later. How one ended that cannot be decoded
// is what its columns tell: that does not change by waiting.
func (c *Coordinator) loadIfEnded(ctx context.Context, id string) (*txn.Transaction, error) {
	rec, err := c.loadOnce(ctx, id)
	if err != nil || !rec.Status.Final() && rec.Parked == "" {
		return nil, err
	}
	t, _, err := record.Decode(rec)
	if err != nil {
		t = record.Head(rec)
		t.Reason = excerpt(err.Error())
	}
	return t, nil
}

// outcomeOf puts the end of a transaction into a result and the error that goes with
// it.
func outcomeOf(id string, t *txn.Transaction, err error) (txn.Result, error) {
	if err != nil {
		return txn.Result{ID: id, Outcome: txn.InDoubt, Reason: err.Error()}, err
	}
	r := t.Result()
	return r, r.Err()
}
