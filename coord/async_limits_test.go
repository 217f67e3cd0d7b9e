package coord_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/check"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

// traced adds what a tracer adds to each transaction.
type traced struct{}

func (traced) Submit(context.Context, *txn.Definition) map[string]string {
	return map[string]string{"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
}

func (traced) Call(_ context.Context, call *txn.Call, _ txn.Target) (map[string]string, func(txn.Answer)) {
	return call.Headers, func(txn.Answer) {}
}

// TestAnAssuredPartIsRefusedByLimits: a participant behind a reliable message is reached once the
// transaction is committed, though the message that the coordinator makes, of what it has accepted,
// may be larger than what it accepts.
func TestAnAssuredPartIsRefusedByLimits(t *testing.T) {
	for name, tc := range map[string]struct {
		opts   coord.Options
		result []byte
		change func(d *txn.Definition)
	}{
		"takes over a result": {
			opts:   coord.Options{Limits: check.Limits{Payload: 16 << 10}}, // results are within 64 KiB
			result: []byte(`"` + string(bytes.Repeat([]byte("x"), 20<<10)) + `"`),
			change: func(d *txn.Definition) {
				d.Branches[1].After, d.Branches[1].Use = []string{"seat"}, map[string]string{"ticket": "seat"}
			},
		},
		"takes over results, with the default limits": {
			result: []byte(`"` + string(bytes.Repeat([]byte("x"), 60<<10)) + `"`),
			change: func(d *txn.Definition) {
				d.Branches[1].After, d.Branches[1].Use = []string{"seat"}, map[string]string{"ticket": "seat"}
				d.Branches[1].Payload = []byte(`{"text": "` + strings.Repeat("y", 1000<<10) + `"}`)
			},
		},
		"has headers, and a trace": {
			opts:   coord.Options{Tracing: traced{}},
			result: []byte(`{}`),
			change: func(d *txn.Definition) {
				d.Headers = map[string]string{"baggage": strings.Repeat("x", 8<<10-len("baggage"))}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				parts := newParticipants("confirm", "cancel", "mail")
				c := start(t, memstore.New(nil), &tc.opts, parts)
				register(t, c, "try", func(context.Context, txn.Call) ([]byte, error) { return tc.result, nil })
				d := txn.Definition{ID: "trip", Mode: "tcc", Branches: []txn.Branch{
					{ID: "seat", Do: "try", Confirm: "confirm", Undo: "cancel"},
					{ID: "mail", Confirm: txn.Async("mail")},
				}}
				tc.change(&d)
				_, err := c.Submit(t.Context(), d)
				must(t, err)
				ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
				defer cancel()
				if r, err := c.Wait(ctx, "trip"); err != nil {
					t.Errorf("%.200s\n%.300s", r.Parked, err)
				}
			})
		})
	}
}

// TestABranchDoesNotJoinBesideATrace: the headers of a trace do not count when a branch joins, as
// they did not when the transaction began.
func TestABranchDoesNotJoinBesideATrace(t *testing.T) {
	c := start(t, memstore.New(nil), &coord.Options{Tracing: traced{}}, newParticipants("confirm", "cancel"))
	id, err := c.Begin(t.Context(), txn.Definition{
		Mode: "tcc", Headers: map[string]string{"baggage": strings.Repeat("x", 8<<10-len("baggage"))},
	})
	must(t, err)
	must(t, c.Enlist(t.Context(), id, txn.Branch{ID: "a", Confirm: "confirm", Undo: "cancel"}))
	must(t, c.RollBack(t.Context(), id, "enough"))
}
