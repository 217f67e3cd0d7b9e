package coord_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

// TestABranchThatIsRefusedHasNotJoined: a branch that is refused has not joined.
func TestABranchThatIsRefusedHasNotJoined(t *testing.T) {
	for name, branch := range map[string]txn.Branch{
		"is not like a target": {ID: "b", Confirm: "not a target"},
		"cannot be called":     {ID: "b", Confirm: "http://host/path"},
		"is not registered":    {ID: "b", Confirm: "confirmed"},
		"calls nobody":         {ID: "b"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := start(t, memstore.New(nil), nil, newParticipants("confirm", "cancel"))
				id, err := c.Begin(t.Context(), txn.Definition{Mode: "tcc", Branches: []txn.Branch{{ID: "a", Confirm: "confirm", Undo: "cancel"}}})
				must(t, err)
				if err := c.Enlist(t.Context(), id, branch); err == nil {
					t.Error("it is not refused")
				}
				if tx := get(t, c, id); len(tx.Branches) != 1 || tx.Epoch != 1 {
					t.Errorf("it was refused, and now there are %+v", tx.Branches)
				}
				must(t, c.Commit(t.Context(), id))
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				if _, err := c.Wait(ctx, id); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
