package coord_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

// booking is a TCC transaction that is begun.
func booking(id string) txn.Definition { return txn.Definition{ID: id, Mode: "tcc", Name: "booking"} }

func seat(n int) txn.Branch {
	return txn.Branch{ID: fmt.Sprintf("seat-%d", n), Confirm: "confirm", Undo: "cancel"}
}

// TestAListTellsAllOfATransaction: it has what a store keeps in columns, and Get the rest.
func TestAListTellsAllOfATransaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parts := transferParts()
		parts.answer("give", errNoMoney)
		c := start(t, memstore.New(nil), nil, parts)
		res, err := c.Run(t.Context(), transfer())
		if res.Outcome != txn.RolledBack {
			t.Fatal(err)
		}
		whole, err := c.Get(t.Context(), res.ID)
		must(t, err)
		page, err := c.List(t.Context(), txn.Query{})
		must(t, err)
		want := []*txn.Transaction{{
			Definition: txn.Definition{ID: res.ID, Mode: whole.Mode, Name: whole.Name}, Status: txn.RolledBack,
			Created: whole.Created, Updated: whole.Updated, Finished: whole.Finished, Deadline: whole.Deadline,
			Due: whole.Due, Owner: whole.Owner, Epoch: whole.Epoch, Revision: whole.Revision,
		}}
		diff := cmp.Diff(want, page.Transactions, cmpopts.IgnoreUnexported(*whole))
		if diff != "" || whole.Reason == "" {
			t.Errorf("reason %q; %s", whole.Reason, diff)
		}
	})
}

// TestOwnWritesAreNotReadAgain: whoever begins a transaction, adds to it and commits
// it on one coordinator has no use for reading it.
func TestOwnWritesAreNotReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := bedrocktest.NewStore(memstore.New(nil))
		parts := newParticipants("confirm", "cancel")
		c := start(t, store, nil, parts)
		if _, err := c.Begin(t.Context(), booking("trip")); err != nil {
			t.Fatal(err)
		}
		err := errors.Join(c.Enlist(t.Context(), "trip", seat(1)), c.Enlist(t.Context(), "trip", seat(2)),
			c.Commit(t.Context(), "trip"))
		if n := store.Calls(bedrocktest.Load); n != 0 { // Wait reads what has ended before it was asked
			t.Errorf("%d reads, want none", n)
		}
		if _, failed := c.Wait(t.Context(), "trip"); errors.Join(err, failed) != nil {
			t.Fatal(err, failed)
		}
		made := parts.made()
		slices.Sort(made) // they are called side by side
		if diff := cmp.Diff([]string{"seat-1 confirm", "seat-2 confirm"}, made); diff != "" {
			t.Error(diff)
		}
	})
}

// TestWhatIsRememberedIsNotBelieved: another replica may have written since.
func TestWhatIsRememberedIsNotBelieved(t *testing.T) {
	decide := map[string]func(ctx context.Context, c *coord.Coordinator) error{
		"committed": func(ctx context.Context, c *coord.Coordinator) error { return c.Commit(ctx, "trip") },
		"rolled back": func(ctx context.Context, c *coord.Coordinator) error {
			return c.RollBack(ctx, "trip", "too dear")
		},
	}
	for name, decide := range decide {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := memstore.New(nil)
				c1 := start(t, store, nil, newParticipants("confirm", "cancel"))
				c2 := start(t, store, nil, newParticipants("confirm", "cancel"))
				if _, err := c1.Begin(t.Context(), booking("trip")); err != nil {
					t.Fatal(err)
				}
				if err := errors.Join(c1.Enlist(t.Context(), "trip", seat(1)), decide(t.Context(), c2)); err != nil {
					t.Fatal(err)
				}
				// There is nothing to write if it is still open, for the branch is in.
				if err := c1.Enlist(t.Context(), "trip", seat(1)); !errors.Is(err, txn.ErrDecided) {
					t.Errorf("enlist: %v, want %v", err, txn.ErrDecided)
				}
			})
		})
	}
}

// TestOvertakenChangeIsMadeAnew: the write that finds another version is repeated on
// what the store has.
func TestOvertakenChangeIsMadeAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New(nil)
		c1 := start(t, store, nil, newParticipants("confirm", "cancel"))
		c2 := start(t, store, nil, newParticipants("confirm", "cancel"))
		if _, err := c1.Begin(t.Context(), booking("trip")); err != nil {
			t.Fatal(err)
		}
		err := errors.Join(c2.Enlist(t.Context(), "trip", seat(1)), c1.Enlist(t.Context(), "trip", seat(2)))
		if err != nil {
			t.Fatal(err)
		}
		if n := len(get(t, c2, "trip").Branches); n != 2 {
			t.Errorf("%d branches, want both", n)
		}
	})
}

// TestManyOpenTransactionsAreForgotten: remembering is bounded, and nothing depends
// on it.
func TestManyOpenTransactionsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const many = 1100
		store := bedrocktest.NewStore(memstore.New(nil))
		c := start(t, store, nil, newParticipants("confirm", "cancel"))
		for n := range many {
			if _, err := c.Begin(t.Context(), booking(fmt.Sprint("trip-", n))); err != nil {
				t.Fatal(err)
			}
		}
		for n := range many {
			if err := c.Enlist(t.Context(), fmt.Sprint("trip-", n), seat(1)); err != nil {
				t.Fatal(err)
			}
		}
		if n := store.Calls(bedrocktest.Load); n < many-1024 {
			t.Errorf("%d reads: want the oldest to be forgotten", n)
		}
	})
}

// TestAnEarlierLifeIsCommitted: what a coordinator remembers was rolled back and removed
// elsewhere, and its ID begun again with other content. That has the same revision and
// epoch, and is what is to be committed.
func TestAnEarlierLifeIsCommitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New(nil)
		parts := newParticipants("seat", "bed")
		c1, c2 := start(t, store, nil, parts), start(t, store, nil, parts)
		begin := func(c *coord.Coordinator, what txn.Target) {
			d := booking("trip")
			d.Branches = []txn.Branch{{ID: string(what), Confirm: what}}
			_, err := c.Begin(t.Context(), d)
			must(t, err)
		}
		begin(c1, "seat")
		must(t, c2.RollBack(t.Context(), "trip", "too dear"))
		if res, _ := c2.Wait(t.Context(), "trip"); res.Outcome != txn.RolledBack {
			t.Fatalf("%+v", res)
		}
		must(t, c2.Act(t.Context(), "trip", txn.ActRemove, "it is over"))
		time.Sleep(time.Second)
		begin(c2, "bed")
		must(t, c1.Commit(t.Context(), "trip"))
		_, err := c1.Wait(t.Context(), "trip")
		must(t, err)
		if diff := cmp.Diff([]string{"bed confirm"}, parts.made()); diff != "" {
			t.Error(diff)
		}
	})
}
