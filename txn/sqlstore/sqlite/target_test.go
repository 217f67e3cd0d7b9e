package sqlite_test

import (
	"context"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
)

// target fails until it is well.
type target struct{ well atomic.Bool }

func (*target) Check(txn.Target) error { return nil }

func (*target) Schemes() []string { return []string{"http"} }

func (c *target) Call(context.Context, txn.Target, txn.Call) txn.Answer {
	if c.well.Load() {
		return txn.Answer{Kind: txn.AnswerDone}
	}
	return txn.Answer{Kind: txn.AnswerFailed, Note: "500"}
}

// TestALongTargetHasFailed: its name, longer than the column for it, kept the transaction
// from being handed over, and so from ever being called again.
func TestALongTargetHasFailed(t *testing.T) {
	caller := &target{}
	s := open(t, filepath.Join(t.TempDir(), "bedrock.db"), nil)
	c, err := coord.New(s, &coord.Options{Callers: []txn.Caller{caller}})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	defer func() { _ = c.Stop(ctx) }()
	id, err := c.Submit(ctx, txn.Definition{Mode: "msg", Branches: []txn.Branch{{
		ID: "a", Confirm: txn.Target("http://host/" + strings.Repeat("x", 1500)),
		Policy: &txn.Policy{Backoff: time.Second, MaxBackoff: time.Second},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	for found, err := range c.Watch(ctx, id) {
		if err != nil {
			t.Fatalf("never handed over: %v", err)
		}
		if found.Waits != "" {
			break
		}
	}
	caller.well.Store(true)
	if res, err := c.Wait(ctx, id); res.Outcome != txn.Committed {
		t.Errorf("%q, %v", res.Outcome, err)
	}
}
