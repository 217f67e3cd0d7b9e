package coord_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

// TestNobodyGivesAContext: nothing has happened then, and nobody panics.
func TestNobodyGivesAContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, memstore.New(nil), nil, transferParts())
		var none context.Context
		for name, call := range map[string]func() error{
			"Start":       func() error { return c.Start(none) },
			"Stop":        func() error { return c.Stop(none) },
			"Submit":      func() error { _, err := c.Submit(none, transfer()); return err },
			"Run":         func() error { _, err := c.Run(none, transfer()); return err },
			"Begin":       func() error { _, err := c.Begin(none, transfer()); return err },
			"SubmitTx":    func() error { _, err := c.SubmitTx(none, nil, transfer()); return err },
			"Enlist":      func() error { return c.Enlist(none, "a") },
			"Commit":      func() error { return c.Commit(none, "a") },
			"RollBack":    func() error { return c.RollBack(none, "a", "") },
			"Act":         func() error { return c.Act(none, "a", txn.ActRetry, "test") },
			"Remove":      func() error { return c.Act(none, "a", txn.ActRemove, "test") },
			"Wait":        func() error { _, err := c.Wait(none, "a"); return err },
			"Get":         func() error { _, err := c.Get(none, "a"); return err },
			"List":        func() error { _, err := c.List(none, txn.Query{}); return err },
			"Subscribe":   func() error { return c.Subscribe(none, "a", "take") },
			"Unsubscribe": func() error { return c.Unsubscribe(none, "a", "take") },
			"Subscribers": func() error { _, err := c.Subscribers(none, "a"); return err },
			"Watch": func() error {
				for _, err := range c.Watch(none, "a") {
					return err
				}
				return nil
			},
		} {
			err := call()
			if wrong, ok := errors.AsType[*input.Error](err); !ok || wrong.Field != "ctx" {
				t.Errorf("%s: %v", name, err)
			}
		}
		if res, err := c.Run(t.Context(), transfer()); err != nil {
			t.Errorf("after that: %+v %v", res, err)
		}
	})
}

// mindless is a store that loses its mind when it is to create a record.
type mindless struct{ driver.Store }

// Create implements [driver.Store].
func (mindless) Create(context.Context, *driver.Record) error { panic("out of its mind") }

// TestStopWaitsForWhoHasPanicked: a caller may survive the panic of a store, as a handler of
// HTTP does, and the coordinator is stopped later.
func TestStopWaitsForWhoHasPanicked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := coord.New(mindless{memstore.New(nil)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		done := func(context.Context, txn.Call) ([]byte, error) { return nil, nil }
		if err := errors.Join(c.Register("f", done), c.Start(t.Context())); err != nil {
			t.Fatal(err)
		}
		func() {
			defer func() { _ = recover() }()
			_, err := c.Submit(t.Context(), txn.Definition{Mode: "saga", Branches: []txn.Branch{{ID: "a", Do: "f"}}})
			t.Errorf("no panic, but %v", err)
		}()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := c.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
}
