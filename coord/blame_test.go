package coord_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

// TestATransactionWaitsForATargetThatItDoesNotCall: one that has failed for good holds nothing
// up any more, and its recovery would end no pause.
func TestATransactionWaitsForATargetThatItDoesNotCall(t *testing.T) {
	for name, test := range map[string]struct {
		policy txn.Policy
		status txn.Status
		waits  string
	}{
		"called again":      {txn.Policy{Backoff: time.Hour, MaxBackoff: time.Hour}, txn.Running, "fail"},
		"decided meanwhile": {txn.Policy{Attempts: 1, Then: txn.Compensate}, txn.RollingBack, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				parts := newParticipants("do", "fail")
				parts.answer("fail", errBroken)
				c := start(t, memstore.New(nil), nil, parts)
				register(t, c, "later", func(context.Context, txn.Call) ([]byte, error) {
					return nil, txn.Pending(time.Hour)
				})
				id := submit(t, c, txn.Definition{Mode: "saga", Branches: []txn.Branch{
					{ID: "a", Do: "do", Undo: "later"},
					{ID: "b", Do: "fail", After: []string{"a"}, Policy: &test.policy},
				}})
				time.Sleep(10 * time.Second)
				if tx := get(t, c, id); tx.Status != test.status || tx.Waits != test.waits {
					t.Errorf("%s, waits for %q; want %s and %q", tx.Status, tx.Waits, test.status, test.waits)
				}
			})
		})
	}
}

// TestATargetThatIsBackIsNotAsked: of two operations at one target the one has no attempts left, and
// the other is called again in an hour. When the target is back that goes on at once.
func TestATargetThatIsBackIsNotAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, memstore.New(nil), nil, nil)
		var well atomic.Bool
		register(t, c, "down", func(_ context.Context, call txn.Call) ([]byte, error) {
			switch {
			case well.Load():
				return nil, nil
			case call.Branch == "b": // answers last
				time.Sleep(time.Second)
			}
			return nil, errBroken
		})
		deliver := func(receivers ...txn.Branch) string {
			return submit(t, c, txn.Definition{Mode: "msg", Branches: receivers})
		}
		id := deliver(
			txn.Branch{ID: "a", Confirm: "down", Policy: &txn.Policy{Backoff: time.Hour, MaxBackoff: time.Hour}},
			txn.Branch{ID: "b", Confirm: "down", Policy: &txn.Policy{Attempts: 1, Then: txn.Park}},
		)
		time.Sleep(10 * time.Second)
		for range 10 { // the target is in trouble with others, too
			deliver(txn.Branch{ID: "x", Confirm: "down"})
		}
		time.Sleep(10 * time.Second)
		well.Store(true)
		time.Sleep(5 * time.Minute)
		if tx := get(t, c, id); tx.Progress[0].Confirm.State != txn.Done {
			t.Errorf("not done five minutes later, and due in %v", time.Until(tx.Due))
		}
	})
}
