package coord_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

// TestTCCCommitsAfterItsDeadline: tries are held until the transaction's timeout. One that is not
// decided by then is rolled back, although all its tries are done.
func TestTCCCommitsAfterItsDeadline(t *testing.T) {
	trip := txn.Definition{ID: "trip", Mode: "tcc", Timeout: time.Minute, Branches: []txn.Branch{
		{ID: "seat", Do: "try", Confirm: "confirm", Undo: "cancel"},
	}}
	// slow reserves, and says so even when its caller has no time any more.
	slow := func(ctx context.Context, _ txn.Call) ([]byte, error) { <-ctx.Done(); return nil, nil }
	prepare := func() (*memstore.Store, *participants) {
		return memstore.New(nil), newParticipants("confirm", "cancel")
	}
	check := func(t *testing.T, r txn.Result, err error, tx *txn.Transaction) {
		t.Helper()
		if tx.Decided.After(tx.Deadline) && tx.Status != txn.RolledBack {
			t.Errorf("decided %v after its deadline: %s (%+v, %v)", tx.Decided.Sub(tx.Deadline), tx.Status, r, err)
		}
	}
	t.Run("after a restart", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store, parts := prepare()
			first := start(t, store, nil, parts)
			register(t, first, "try", slow)
			_, err := first.Submit(t.Context(), trip)
			must(t, err)
			time.Sleep(time.Second)
			must(t, first.Stop(t.Context()))
			time.Sleep(time.Hour) // a night without a coordinator
			second := start(t, store, nil, parts)
			register(t, second, "try", slow)
			r, err := second.Wait(t.Context(), "trip")
			check(t, r, err, get(t, second, "trip"))
		})
	})
	t.Run("parked meanwhile", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store, parts := prepare()
			c := start(t, store, nil, parts)
			register(t, c, "try", slow)
			_, err := c.Submit(t.Context(), trip)
			must(t, err)
			time.Sleep(time.Second)
			must(t, c.Act(t.Context(), "trip", txn.ActPark, "look at it"))
			time.Sleep(time.Hour)
			must(t, c.Act(t.Context(), "trip", txn.ActResume, "go on"))
			r, err := c.Wait(t.Context(), "trip")
			check(t, r, err, get(t, c, "trip"))
		})
	})
}
