package coord_test

import (
	"context"
	"errors"
	"strings"
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
				id, err := c.Begin(t.Context(), txn.Definition{
					Mode: "tcc", Branches: []txn.Branch{{ID: "a", Confirm: "confirm", Undo: "cancel"}},
				})
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

// TestATopicThatJoinsIsRefusedForNoReason: topics are expanded when a message is begun. One that joins
// is not told that it is no message.
func TestATopicThatJoinsIsRefusedForNoReason(t *testing.T) {
	c := start(t, memstore.New(nil), nil, newParticipants("check", "mail", "stock"))
	must(t, c.Subscribe(t.Context(), "orders", "stock"))
	id, err := c.Begin(t.Context(), txn.Definition{
		Mode: "msg", Check: &txn.Check{Target: "check", After: time.Hour},
		Branches: []txn.Branch{{ID: "mail", Confirm: "mail"}},
	})
	must(t, err)
	err = c.Enlist(t.Context(), id, txn.Branch{ID: "topic", Confirm: txn.Topic("orders")})
	wrong, ok := errors.AsType[*txn.InvalidError](err)
	if !ok || wrong.Field != "branches[0].confirm" || !strings.Contains(wrong.Problem, "cannot join") {
		t.Errorf("%v; want it to say that a topic cannot join", err)
	}
	must(t, c.RollBack(t.Context(), id, "enough"))
}
