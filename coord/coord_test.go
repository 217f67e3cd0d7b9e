package coord_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

// start runs a coordinator on a store until the test ends.
func start(t *testing.T, store *memstore.Store, opts *coord.Options) *coord.Coordinator {
	t.Helper()
	c, err := coord.New(store, opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return c
}

func TestSagaCommits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, memstore.New(nil), nil)
		var calls atomic.Int32
		ok := func(context.Context, txn.Call) ([]byte, error) { calls.Add(1); return []byte(`{"id":7}`), nil }
		c.Register("a", ok)
		c.Register("b", ok)
		res, err := c.Run(t.Context(), txn.Definition{Mode: "saga", Name: "order", Payload: []byte(`{}`), Branches: []txn.Branch{
			{ID: "a", Do: "a", Undo: "a"}, {ID: "b", After: []string{"a"}, Do: "b", Use: map[string]string{"x": "a.id"}},
		}})
		if err != nil || res.Outcome != txn.Committed || calls.Load() != 2 {
			t.Fatalf("%+v %v, %d calls", res, err, calls.Load())
		}
	})
}

func TestSagaRollsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, memstore.New(nil), nil)
		var undone atomic.Int32
		c.Register("a", func(context.Context, txn.Call) ([]byte, error) { return nil, nil })
		c.Register("undo", func(context.Context, txn.Call) ([]byte, error) {
			if undone.Add(1) < 4 {
				return nil, errors.New("try again")
			}
			return nil, nil
		})
		c.Register("b", func(context.Context, txn.Call) ([]byte, error) { return nil, txn.Abort(errors.New("no money")) })
		began := time.Now()
		res, err := c.Run(t.Context(), txn.Definition{Mode: "saga", Name: "order", Branches: []txn.Branch{
			{ID: "a", Do: "a", Undo: "undo"}, {ID: "b", After: []string{"a"}, Do: "b", Undo: "undo"},
		}})
		if res.Outcome != txn.RolledBack || undone.Load() != 4 {
			t.Fatalf("%+v %v, %d undone", res, err, undone.Load())
		}
		t.Log(time.Since(began), err)
		tx, _ := c.Get(t.Context(), res.ID)
		for _, a := range tx.Attempts {
			t.Logf("%+v", a)
		}
	})
}
