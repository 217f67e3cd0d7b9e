package coord

import (
	"cmp"
	"context"
	"errors"
	"time"

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
	if err := cmp.Or(c.ready(), c.checker.ID(id)); err != nil {
		return txn.Result{ID: id, Outcome: txn.InDoubt}, err
	}
	heard := c.news.listen(id)
	defer c.news.leave(id, heard)
	return c.await(ctx, id, heard, c.active.get(id) == nil)
}

// await waits for the end of a transaction. With ask it begins with a look at the
// store: the end may have come before anybody listened, or come elsewhere.
func (c *Coordinator) await(ctx context.Context, id string, heard *listener, ask bool) (txn.Result, error) {
	pause := askStore
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		if ask {
			t, err := c.peek(ctx, id)
			if t != nil || errors.Is(err, driver.ErrNotFound) {
				return outcome(id, t, err)
			}
			if c.life.Err() != nil && len(heard.end) == 0 { // not for chance to choose whether it is asked again
				return outcome(id, nil, &txn.InDoubtError{ID: id, Err: txn.ErrClosed})
			}
		}
		select {
		case t := <-heard.end:
			return outcome(id, t, nil)
		case <-timer.C:
			ask = c.active.get(id) == nil
			pause = min(2*pause, askStoreLater)
			timer.Reset(pause)
		case <-ctx.Done():
			return outcome(id, nil, &txn.InDoubtError{ID: id, Err: context.Cause(ctx)})
		case <-c.life.Done():
			return outcome(id, nil, &txn.InDoubtError{ID: id, Err: txn.ErrClosed})
		}
	}
}

// peek reads a transaction if it is final or parked. A store that fails is asked
// again later.
func (c *Coordinator) peek(ctx context.Context, id string) (*txn.Transaction, error) {
	rec, err := c.loadOnce(ctx, id)
	if err != nil || !rec.Status.Final() && rec.Parked == "" {
		return nil, err
	}
	t, _, err := decode(rec)
	return t, err
}

// outcome puts the end of a transaction into a result and the error that goes with
// it.
func outcome(id string, t *txn.Transaction, err error) (txn.Result, error) {
	switch {
	case err != nil:
		return txn.Result{ID: id, Outcome: txn.InDoubt, Reason: err.Error()}, err
	case t.Parked != "":
		return t.Result(), &txn.ParkedError{ID: id, Reason: t.Parked}
	default:
		r := t.Result()
		return r, r.Err()
	}
}
