package coord_test

import (
	"context"
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
		"its hook is asked": {txn.Policy{Attempts: 1, Then: txn.Hook, Hook: "later"}, txn.Running, ""},
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
