package coord_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

// TestWhatRunsIsToldAsDecided: a saga that is under way may still end either way.
func TestWhatRunsIsToldAsDecided(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parts := newParticipants("later", "undo")
		parts.answer("later", txn.Pending(time.Hour))
		c := start(t, memstore.New(nil), nil, parts)
		id, err := c.Submit(t.Context(), txn.Definition{Mode: "saga", Branches: []txn.Branch{
			{ID: "a", Do: "later", Undo: "undo"},
		}})
		must(t, err)
		for what, err := range map[string]error{
			"commit": c.Commit(t.Context(), id),
			"enlist": c.Enlist(t.Context(), id, txn.Branch{ID: "b", Do: "later", Undo: "undo"}),
		} {
			if tx := get(t, c, id); !errors.Is(err, txn.ErrAction) || errors.Is(err, txn.ErrDecided) {
				t.Errorf("%s: %v; it is %s", what, err, tx.Status)
			}
		}
		must(t, c.RollBack(t.Context(), id, "enough"))
	})
}
