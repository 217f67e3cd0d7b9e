package combination_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/lock/combination"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// TestCallerWhoLeavesPutsANodeAway: that somebody has no time to wait for its answer says nothing of the node.
func TestCallerWhoLeavesPutsANodeAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := bedrocktest.NewBackend(memlock.NewBackend(nil))
		nodes := []driver.Backend{slow, memlock.NewBackend(nil), memlock.NewBackend(nil)}
		locks, err := combination.New(nodes, &combination.Options{NodeTimeout: 100 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		defer locks.Stop(t.Context())
		slow.Fail(bedrocktest.Acquire, bedrocktest.Fault{Delay: 20 * time.Millisecond})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if _, err := locks.Mutex("a", nil).Lock(ctx); err == nil {
			t.Fatal("a lock was had in no time")
		}
		lease, err := locks.Mutex("b", nil).TryLock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if on := lease.Spread(); on.Held != 3 {
			t.Errorf("the lease is on %d nodes", on.Held)
		}
		if err := lease.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
