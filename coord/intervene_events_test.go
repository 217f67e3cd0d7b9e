package coord_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

// ears keep what an observer is told.
type ears struct {
	mu    sync.Mutex
	heard []string
}

func (e *ears) Observe(_ context.Context, event coord.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.heard = append(e.heard, string(event.Kind)+" "+string(event.Status))
}

// TestWhatPeopleDecideIsNotTold: only people end a transaction in doubt, so a counter of these would
// stay at zero for ever if observers were told of the coordinator's own doings alone.
func TestWhatPeopleDecideIsNotTold(t *testing.T) {
	for name, tc := range map[string]struct {
		do   func(ctx context.Context, c *coord.Coordinator, id string) error
		want string
	}{
		"commit": {
			func(ctx context.Context, c *coord.Coordinator, id string) error { return c.Commit(ctx, id) },
			"decided committing",
		},
		"roll back": {
			func(ctx context.Context, c *coord.Coordinator, id string) error { return c.RollBack(ctx, id, "no") },
			"decided rolling-back",
		},
		"park": {
			func(ctx context.Context, c *coord.Coordinator, id string) error {
				return c.Act(ctx, id, txn.ActPark, "wait")
			},
			"parked open",
		},
		"abandon": {
			func(ctx context.Context, c *coord.Coordinator, id string) error {
				if err := c.Act(ctx, id, txn.ActPark, "wait"); err != nil {
					return err
				}
				return c.Act(ctx, id, txn.ActAbandon, "nobody knows")
			},
			"finished in-doubt",
		},
		"remove": {
			func(ctx context.Context, c *coord.Coordinator, id string) error {
				if err := c.Commit(ctx, id); err != nil {
					return err
				}
				if _, err := c.Wait(ctx, id); err != nil {
					return err
				}
				return c.Act(ctx, id, txn.ActRemove, "done with")
			},
			"removed ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := &ears{}
				c := start(t, memstore.New(nil), &coord.Options{Observer: e}, newParticipants("confirm", "cancel"))
				id, err := c.Begin(t.Context(), txn.Definition{Mode: "tcc", Timeout: time.Hour, Branches: []txn.Branch{
					{ID: "a", Confirm: "confirm", Undo: "cancel"},
				}})
				must(t, err)
				must(t, tc.do(t.Context(), c, id))
				time.Sleep(time.Minute)
				e.mu.Lock()
				defer e.mu.Unlock()
				if !slices.Contains(e.heard, tc.want) {
					t.Errorf("not told %q, only %q", tc.want, e.heard)
				}
			})
		})
	}
}
