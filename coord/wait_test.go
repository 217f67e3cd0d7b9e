package coord_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

// TestAnEndThatWasHeardIsTold: waiters ask a store that does not answer while they are told
// of the end, and then their time is up: chance must not choose which of the two counts.
func TestAnEndThatWasHeardIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parts := transferParts()
		parts.answer("take", txn.Pending(2*time.Second), nil)
		store := &unread{Store: memstore.New(nil)}
		c := start(t, store, nil, parts)
		id, err := c.Submit(t.Context(), transfer())
		must(t, err)
		time.Sleep(time.Second) // it waits, and nobody drives it
		store.hangs.Store(true)
		var waiters sync.WaitGroup
		for range 64 {
			waiters.Go(func() { waitShortly(t, c, id) })
		}
		waiters.Wait()
	})
}

func waitShortly(t *testing.T, c *coord.Coordinator, id string) {
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	if res, err := c.Wait(ctx, id); err != nil || res.Outcome != txn.Committed {
		t.Errorf("%+v %v", res, err)
	}
}

// unread is a store that may hang when it is asked for a record.
type unread struct {
	driver.Store

	hangs atomic.Bool
}

func (s *unread) Load(ctx context.Context, id string) (*driver.Record, error) {
	if s.hangs.Load() {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return s.Store.Load(ctx, id)
}
