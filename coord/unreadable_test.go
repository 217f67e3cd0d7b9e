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

// damagedOne is a coordinator that has parked a transaction which cannot be decoded.
func damagedOne(t *testing.T, store driver.Store) *coord.Coordinator {
	t.Helper()
	must(t, store.Create(t.Context(), &driver.Record{
		ID: "damaged", Mode: "saga", Status: txn.Running, Epoch: 1, Revision: 1,
		Created: time.Now(), Due: time.Now(), Spec: []byte(`{"mode":"saga"}`), State: []byte("{"),
	}))
	c := start(t, store, nil, transferParts())
	time.Sleep(time.Minute)
	return c
}

// TestWaitEndsForWhatCannotBeRead: it is parked, and will not be read by waiting.
func TestWaitEndsForWhatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := damagedOne(t, memstore.New(nil))
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		r, err := c.Wait(ctx, "damaged")
		if _, ok := errors.AsType[*txn.ParkedError](err); !ok || r.Parked == "" || r.Outcome != txn.InDoubt {
			t.Errorf("%+v %v", r, err)
		}
	})
}

// TestWhatCannotBeReadCanBeAbandoned: it was parked for ever, and nobody could end it. What is in
// it stays until it is removed; an intervention that needs to know it is refused.
func TestWhatCannotBeReadCanBeAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New(nil)
		c := damagedOne(t, store)
		for _, a := range []txn.Action{txn.ActResume, txn.ActRetry, txn.ActCompensate} {
			if err := c.Act(t.Context(), "damaged", a, "go on"); err == nil {
				t.Errorf("%s is done", a)
			}
		}
		must(t, c.Act(t.Context(), "damaged", txn.ActAbandon, "make an end of it"))
		rec, err := store.Load(t.Context(), "damaged")
		must(t, err)
		if rec.Status != txn.InDoubt || rec.Parked != "" || rec.Finished.IsZero() || string(rec.State) != "{" {
			t.Errorf("%+v", rec)
		}
		if r, err := c.Wait(t.Context(), "damaged"); err == nil || r.Outcome != txn.InDoubt || r.Parked != "" {
			t.Errorf("%+v %v", r, err)
		}
		if err := c.Act(t.Context(), "damaged", txn.ActAbandon, "again"); err == nil {
			t.Error("abandoned twice")
		}
		must(t, c.Act(t.Context(), "damaged", txn.ActRemove, "it is of no use"))
	})
}
