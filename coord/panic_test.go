package coord_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

// moody is a store that loses its mind once, when it is to write and was told to.
type moody struct {
	driver.Store
	mad atomic.Bool
}

// Update implements [driver.Store].
func (m *moody) Update(ctx context.Context, was driver.Version, rec *driver.Record) error {
	if m.mad.Swap(false) {
		panic("out of its mind")
	}
	return m.Store.Update(ctx, was, rec)
}

// TestPanicInAChange: its caller survives it, as a handler of HTTP does. The transaction can be
// changed after that, its slot is free, and Stop waits for nobody.
func TestPanicInAChange(t *testing.T) {
	later := txn.Definition{Mode: "tcc", Branches: []txn.Branch{{ID: "a", Confirm: "f", Undo: "f"}}}
	for name, change := range map[string]func(ctx context.Context, c *coord.Coordinator, id string) error{
		"Commit": func(ctx context.Context, c *coord.Coordinator, id string) error { return c.Commit(ctx, id) },
		"RollBack": func(ctx context.Context, c *coord.Coordinator, id string) error {
			return c.RollBack(ctx, id, "")
		},
		"Act": func(ctx context.Context, c *coord.Coordinator, id string) error {
			return c.Act(ctx, id, txn.ActCompensate, "as it is wrong")
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &moody{Store: memstore.New(nil)}
				c := start(t, store, &coord.Options{Active: 1}, newParticipants("f"))
				id, err := c.Begin(t.Context(), later)
				must(t, err)
				store.mad.Store(true)
				func() {
					defer func() { _ = recover() }()
					t.Errorf("no panic, but %v", change(t.Context(), c, id))
				}()
				again, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				if err := c.RollBack(again, id, ""); err != nil {
					t.Fatalf("the store is well again: %v", err)
				}
				if res, err := c.Wait(again, id); res.Outcome != txn.RolledBack {
					t.Errorf("%+v %v", res, err)
				}
			})
		})
	}
}

// smudged is a tracing that panics in one of its places.
type smudged struct{ submit, call, end bool }

// Submit implements [coord.Tracing].
func (s smudged) Submit(context.Context, *txn.Definition) map[string]string {
	if s.submit {
		panic("out of ink")
	}
	return nil
}

// Call implements [coord.Tracing].
func (s smudged) Call(_ context.Context, call *txn.Call, _ txn.Target) (map[string]string, func(txn.Answer)) {
	if s.call {
		panic("out of ink")
	}
	return call.Headers, func(txn.Answer) {
		if s.end {
			panic("out of ink")
		}
	}
}

// TestATracingThatPanicsEndsEverything: neither the process nor the transaction ends, each call
// carries the transaction's own headers, and gives its slot back.
func TestATracingThatPanicsEndsEverything(t *testing.T) {
	for name, tracing := range map[string]smudged{"submit": {submit: true}, "call": {call: true}, "end": {end: true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log, parts := &lines{}, transferParts()
				c := start(t, memstore.New(nil), &coord.Options{
					Tracing: tracing, PerTarget: 1, Logger: slog.New(slog.NewTextHandler(log, nil)),
				}, parts)
				for range 2 {
					d := transfer()
					d.Headers = map[string]string{"tenant": "7"}
					if res, err := c.Run(t.Context(), d); err != nil || res.Outcome != txn.Committed {
						t.Fatalf("%+v %v", res, err)
					}
				}
				for _, call := range parts.calls {
					if call.Headers["tenant"] != "7" {
						t.Errorf("called with %v", call.Headers)
					}
				}
				if told := strings.Join(log.all(), "\n"); !strings.Contains(told, `msg="tracing panicked" id=`) {
					t.Errorf("told %s", told)
				}
			})
		})
	}
}

// TestAnArchiveThatPanicsEndsEverything: the process goes on, what was not archived stays, and
// is archived later.
func TestAnArchiveThatPanicsEndsEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &lines{}
		var refilled atomic.Bool
		c := start(t, memstore.New(nil), &coord.Options{
			Logger: slog.New(slog.NewTextHandler(log, nil)),
			Retention: coord.Retention{Keep: time.Second, Archive: func(context.Context, []*txn.Transaction) error {
				if !refilled.Load() {
					panic("out of paper")
				}
				return nil
			}},
		}, transferParts())
		res, err := c.Run(t.Context(), transfer())
		must(t, err)
		time.Sleep(time.Hour)
		get(t, c, res.ID)
		told := strings.Join(log.all(), "\n")
		for _, want := range []string{
			`msg="archive panicked" panic="out of paper" stack=`, "not removed",
			"archive 1 transactions: panic: out of paper",
		} {
			if !strings.Contains(told, want) {
				t.Errorf("not told: %s", want)
			}
		}
		refilled.Store(true)
		time.Sleep(time.Hour)
		if _, err := c.Get(t.Context(), res.ID); !errors.Is(err, txn.ErrNotFound) {
			t.Errorf("still there: %v", err)
		}
	})
}
