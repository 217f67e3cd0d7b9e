package coord_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

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
				dying := &mortal{Store: store}
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
				dying.dead.Store(true)
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
