package coord_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

// TestAnInterventionInAnotherVersionsTransactionEndsTheProcess: while versions are mixed a
// transaction may have a mode that is known to other coordinators only.
func TestAnInterventionInAnotherVersionsTransactionEndsTheProcess(t *testing.T) {
	for _, status := range []txn.Status{txn.Open, txn.Running, txn.Committing} {
		for _, parked := range []string{"", "for a reason"} {
			synctest.Test(t, func(t *testing.T) {
				store := memstore.New(nil)
				c := start(t, store, nil, nil)
				must(t, store.Create(t.Context(), &driver.Record{
					ID: "new", Mode: "two-phase", Status: status, Parked: parked, Epoch: 1,
					Deadline: time.Now().Add(-time.Second), Spec: []byte(`{"mode":"two-phase"}`), State: []byte("{}"),
				}))
				for name, change := range changes(t, c) {
					if err := change("new"); !errors.Is(err, txn.ErrAction) && !errors.Is(err, txn.ErrDecided) {
						t.Errorf("%s: %v", name, err)
					}
				}
				time.Sleep(time.Minute)
				if rec, err := store.Load(t.Context(), "new"); err != nil || rec.Revision != 1 {
					t.Errorf("%+v, %v", rec, err)
				}
			})
		}
	}
}

// changes lists all that changes a transaction.
func changes(t *testing.T, c *coord.Coordinator) map[string]func(id string) error {
	all := map[string]func(id string) error{
		"commit":    func(id string) error { return c.Commit(t.Context(), id) },
		"roll back": func(id string) error { return c.RollBack(t.Context(), id, "") },
		"enlist":    func(id string) error { return c.Enlist(t.Context(), id, txn.Branch{ID: "b", Confirm: "f"}) },
	}
	for _, a := range txn.Actions() {
		all[string(a)] = func(id string) error { return c.Act(t.Context(), id, a, "test") }
	}
	return all
}
