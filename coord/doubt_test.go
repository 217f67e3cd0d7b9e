package coord_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

// TestDecisionBesideACall: one branch refuses while another one is still at it. The
// decision is written, and its owner dies before that call returns. Whoever goes on
// has to take it back.
func TestDecisionBesideACall(t *testing.T) {
	for _, mode := range []string{"saga", "tcc"} {
		t.Run(mode, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := memstore.New(nil)
				dying := bedrocktest.NewStore(store)
				c1 := start(t, dying, &coord.Options{Elsewhere: true}, nil)
				at, block := make(chan struct{}), make(chan struct{})
				defer close(block)
				register(t, c1, "slow", func(context.Context, txn.Call) ([]byte, error) {
					close(at)
					<-block
					return nil, nil
				})
				register(t, c1, "refuse", func(context.Context, txn.Call) ([]byte, error) {
					<-at
					return nil, txn.Abort(errors.New("no"))
				})
				id, err := c1.Submit(t.Context(), txn.Definition{Mode: mode, Branches: []txn.Branch{
					{ID: "a", Do: "slow", Undo: "undo"}, {ID: "b", Do: "refuse", Undo: "undo"},
				}})
				if err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if rec, err := store.Load(t.Context(), id); err != nil || rec.Status != txn.RollingBack {
					t.Fatalf("%+v %v", rec, err)
				}
				die(dying)
				second := newParticipants("undo")
				c2 := start(t, store, nil, second)
				if res, _ := c2.Wait(t.Context(), id); res.Outcome != txn.RolledBack {
					t.Fatalf("%+v", res)
				}
				undo := map[string]string{"saga": "a compensate", "tcc": "a cancel"}[mode]
				if diff := cmp.Diff([]string{undo}, second.made()); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// TestCallsOfAnOwnerThatHasNotWritten: whoever claims a transaction of which everything is
// entered may call a participant before it writes anything. If it loses the transaction
// then, to a person or by its death, that call has to be taken back.
func TestCallsOfAnOwnerThatHasNotWritten(t *testing.T) {
	for name, lose := range map[string]func(t *testing.T, owner *bedrocktest.Store, c *coord.Coordinator, id string){
		"to a person": func(t *testing.T, _ *bedrocktest.Store, other *coord.Coordinator, id string) {
			if err := other.RollBack(t.Context(), id, "changed my mind"); err != nil {
				t.Fatal(err)
			}
		},
		"by its death": func(_ *testing.T, owner *bedrocktest.Store, _ *coord.Coordinator, _ string) {
			die(owner) // and the deadline comes before its lease is over
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := memstore.New(nil)
				full := withoutRoom(t, store, newParticipants("work", "undo"))
				id, err := full.Submit(t.Context(), txn.Definition{
					Mode: "saga", Timeout: 3 * time.Second, Branches: []txn.Branch{{ID: "a", Do: "work", Undo: "undo"}},
				})
				if err != nil {
					t.Fatal(err)
				}
				dying, parts := bedrocktest.NewStore(store), newParticipants("work", "undo")
				owner := start(t, dying, nil, newParticipants("undo"))
				called, block := make(chan struct{}, 1), make(chan struct{})
				defer close(block)
				register(t, owner, "work", func(context.Context, txn.Call) ([]byte, error) {
					called <- struct{}{}
					<-block
					return nil, nil
				})
				<-called
				lose(t, dying, start(t, store, nil, parts), id)
				if res, _ := full.Wait(t.Context(), id); res.Outcome != txn.RolledBack {
					t.Fatalf("%+v", res)
				}
				if diff := cmp.Diff([]string{"a compensate"}, parts.made()); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// TestARefusalThatNobodyWasAskedFor: a step was called, its owner dies, and the step before
// it answers the second time without the result that the call takes over. That it cannot
// be called any more does not mean that it was not done.
func TestARefusalThatNobodyWasAskedFor(t *testing.T) {
	for _, mode := range []string{"saga", "tcc"} {
		t.Run(mode, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				first := transferParts()
				first.answer("give", errBroken)
				store, dying, c1 := mortalOwner(t, first)
				d := transfer()
				d.Mode, d.Branches[1].Use = mode, map[string]string{"from": "take.by"}
				id, err := c1.Submit(t.Context(), d)
				if err != nil {
					t.Fatal(err)
				}
				synctest.Wait() // give was called, and nothing of it is written
				die(dying)
				second := transferParts()
				second.answer("take", nil) // it is done already, and says no more than that
				c2 := start(t, store, nil, second)
				if res, _ := c2.Wait(t.Context(), id); res.Outcome != txn.RolledBack {
					t.Fatalf("%+v", res)
				}
				words := map[string][2]string{"saga": {"action", "compensate"}, "tcc": {"try", "cancel"}}[mode]
				if diff := cmp.Diff([]string{"take " + words[0], "give " + words[1], "take " + words[1]},
					second.made()); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}
