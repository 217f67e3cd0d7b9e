package coord_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

// TestAMistypedFunctionIsRefused wherever it is named, unless others may have it.
func TestAMistypedFunctionIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New(nil)
		c := start(t, store, nil, newParticipants("stock.deduct", "stock.restore"))
		elsewhere := start(t, store, &coord.Options{Elsewhere: true}, nil)
		for field, d := range map[string]txn.Definition{
			"branches[0].do": {
				Mode: "saga", Branches: []txn.Branch{{ID: "a", Do: "stock.deducts", Undo: "stock.restore"}},
			},
			"branches[0].undo": {
				Mode: "saga", Branches: []txn.Branch{{ID: "a", Do: "stock.deduct", Undo: "stock.deducts"}},
			},
			"branches[1].confirm": {
				Mode: "msg", Branches: []txn.Branch{
					{ID: "a", Confirm: "stock.deduct"}, {ID: "b", Confirm: "async:stock.deducts"},
				},
			},
			"branches[0].policy.hook": {Mode: "saga", Branches: []txn.Branch{{
				ID: "a", Do: "stock.deduct", Policy: &txn.Policy{Attempts: 1, Then: txn.Hook, Hook: "stock.deducts"},
			}}},
			"check.target": {
				Mode: "msg", Check: &txn.Check{Target: "stock.deducts"},
				Branches: []txn.Branch{{ID: "a", Confirm: "stock.deduct"}},
			},
		} {
			d.ID = "x" + strings.Map(func(r rune) rune { return max(r, 'a') }, field)
			accept := func(c *coord.Coordinator) error { _, err := c.Submit(t.Context(), d); return err }
			if d.Check != nil {
				accept = func(c *coord.Coordinator) error { _, err := c.Begin(t.Context(), d); return err }
			}
			mistyped(t, field, accept(c))
			if _, err := c.Get(t.Context(), d.ID); !errors.Is(err, txn.ErrNotFound) {
				t.Errorf("%s: it is there: %v", field, err)
			}
			must(t, accept(elsewhere))
		}
		mistyped(t, "subscriber", c.Subscribe(t.Context(), "orders", "stock.deducts"))
		must(t, elsewhere.Subscribe(t.Context(), "orders", "stock.deducts"))
		if _, err := c.Submit(t.Context(), txn.Definition{
			Mode: "msg", Branches: []txn.Branch{{ID: "a", Confirm: "topic:orders"}},
		}); err != nil {
			t.Errorf("a subscriber elsewhere has the message refused: %v", err)
		}
	})
}

// mistyped wants an error that names the field, and what may be meant.
func mistyped(t *testing.T, field string, err error) {
	t.Helper()
	problem, ok := errors.AsType[*txn.InvalidError](err)
	const want = `no function "stock.deducts" is registered; did you mean "stock.deduct"?`
	if !ok || problem.Field != field || problem.Problem != want {
		t.Errorf("%s: got %v", field, err)
	}
}

// TestAFunctionElsewhereIsFound by whoever has it; that others have not uses up no
// attempts, and shuts nobody out.
func TestAFunctionElsewhereIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New(nil)
		here := start(t, store, &coord.Options{Elsewhere: true}, nil)
		once := &txn.Policy{Attempts: 1}
		var ids []string
		for range 20 {
			id, err := here.Submit(t.Context(), txn.Definition{
				Mode: "saga", Branches: []txn.Branch{{ID: "a", Do: "take", Policy: once}},
			})
			must(t, err)
			ids = append(ids, id)
		}
		time.Sleep(3 * time.Second)
		start(t, store, nil, transferParts())
		time.Sleep(20 * time.Minute) // whoever claims it tries, and half of those who do cannot: 2^-40 are left
		for _, id := range ids {
			if tx := get(t, here, id); tx.Status != txn.Committed || tx.Progress[0].Do.Calls != 1 {
				t.Errorf("%s, %+v, %s", tx.Status, tx.Progress[0].Do, tx.Reason)
			}
		}
	})
}

// TestWhatNobodyCanCallIsTold, once, and is a burden to nobody.
func TestWhatNobodyCanCallIsTold(t *testing.T) {
	for name, target := range map[string]txn.Target{
		"function": "nobody.has", "scheme": "http://host/path", "assured scheme": "async:http://host/path",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, told := bedrocktest.NewStore(memstore.New(nil)), &bytes.Buffer{}
				id, err := accepted(t, store, target)
				must(t, err)
				log := slog.New(slog.NewTextHandler(told, &slog.HandlerOptions{Level: slog.LevelWarn}))
				c := start(t, store, &coord.Options{Elsewhere: true, Replica: "here", Logger: log}, nil)
				time.Sleep(10 * time.Minute)
				tx := get(t, c, id)
				op := tx.Progress[0].Confirm
				if tx.Status.Final() || tx.Parked != "" || op.Tries != 0 || op.Calls != 0 || op.Lacking == 0 ||
					op.Note == "" {
					t.Errorf("%s, parked %q, %+v", tx.Status, tx.Parked, op)
				}
				if n := store.Calls(bedrocktest.Update); n > 60 {
					t.Errorf("%d writes in ten minutes", n)
				}
				must(t, c.Stop(t.Context())) // nobody writes to the log any more
				if n := strings.Count(told.String(), "\n"); n != 1 || !strings.Contains(told.String(), string(target)) {
					t.Errorf("%d lines:\n%s", n, told)
				}
			})
		})
	}
}

// accepted submits to a coordinator that can make the call, and stops before it does.
func accepted(t *testing.T, store driver.Store, target txn.Target) (id string, err error) {
	t.Helper()
	c, err := coord.New(store, &coord.Options{Elsewhere: true, Callers: []txn.Caller{&picky{}}})
	must(t, err)
	must(t, c.Start(t.Context()))
	id, err = c.Submit(t.Context(), txn.Definition{
		Mode: "msg", Delay: time.Minute, Branches: []txn.Branch{{ID: "a", Confirm: target}},
	})
	must(t, c.Stop(t.Context()))
	return id, err
}
