package coord_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

// frozen is a store that does not answer the next list and the next deletion.
type frozen struct {
	driver.Store
	lists, deletions int
}

func (f *frozen) List(ctx context.Context, q driver.Query) ([]*driver.Record, error) {
	if f.lists > 0 {
		f.lists--
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return f.Store.List(ctx, q)
}

func (f *frozen) Delete(ctx context.Context, refs []driver.Ref) (int, error) {
	if f.deletions > 0 {
		f.deletions--
		<-ctx.Done()
		return 0, ctx.Err()
	}
	return f.Store.Delete(ctx, refs)
}

// TestACallWithoutAnAnswerEndsRetention: nothing old would be removed until the process
// starts again.
func TestACallWithoutAnAnswerEndsRetention(t *testing.T) {
	for name, store := range map[string]*frozen{"list": {lists: 1}, "delete": {deletions: 1}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store.Store = memstore.New(nil)
				c := start(t, store, &coord.Options{Retention: coord.Retention{Keep: time.Minute}}, transferParts())
				res, err := c.Run(t.Context(), transfer())
				must(t, err)
				time.Sleep(10 * time.Minute)
				if _, err := c.Get(t.Context(), res.ID); !errors.Is(err, txn.ErrNotFound) {
					t.Errorf("still there after ten minutes: %v", err)
				}
			})
		})
	}
}
