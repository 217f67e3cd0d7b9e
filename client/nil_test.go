package client_test

import (
	"context"
	"errors"
	"testing"

	"github.com/bedrock-go/bedrock/client"
	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/saga"
)

// TestNobodyGivesAContext: a client refuses it as a coordinator does, in the same words, and
// sends nothing: there is no server here.
func TestNobodyGivesAContext(t *testing.T) {
	c, err := client.Dial("http://127.0.0.1:1", nil)
	if err != nil {
		t.Fatal(err)
	}
	d, err := saga.New("").Step("a", "f", "").Definition(nil)
	if err != nil {
		t.Fatal(err)
	}
	var none context.Context
	for name, call := range map[string]func() error{
		"Submit":      func() error { _, err := c.Submit(none, d); return err },
		"Run":         func() error { _, err := c.Run(none, d); return err },
		"Begin":       func() error { _, err := c.Begin(none, d); return err },
		"Enlist":      func() error { return c.Enlist(none, "a") },
		"Commit":      func() error { return c.Commit(none, "a") },
		"RollBack":    func() error { return c.RollBack(none, "a", "") },
		"Act":         func() error { return c.Act(none, "a", txn.ActRetry, "") },
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
		err := withoutPanic(call)
		if wrong, ok := errors.AsType[*input.Error](err); !ok || err.Error() != "ctx: is nil" || wrong.Field != "ctx" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// withoutPanic returns a panic of a call as an error.
func withoutPanic(call func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.New("it has panicked")
		}
	}()
	return call()
}
