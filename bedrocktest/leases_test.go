package bedrocktest_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// TestLeaseIsMistaken: every assertion on locks holds, and fails when it should.
func TestLeaseIsMistaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := bedrocktest.NewBackend(memlock.NewBackend(nil))
		locks := openLocks(t, b, nil)
		bedrocktest.NotHeld(t, locks, "a")
		bedrocktest.NoLocksLeft(t, locks, "")

		lease := take(t, locks, "a")
		bedrocktest.Held(t, lease)
		bedrocktest.NoLocksLeft(t, locks, "b")
		complains(t, []string{`lock "a"`, lease.Owner()}, func(t testing.TB) { bedrocktest.NotHeld(t, locks, "a") })
		complains(t, []string{`lock "a"`, "left behind"}, func(t testing.TB) { bedrocktest.NoLocksLeft(t, locks, "") })
		complains(t, []string{`lock "a"`, "it is held"}, func(t testing.TB) { bedrocktest.Lost(t, lease) })

		b.TakeAway(t, "a")
		bedrocktest.Lost(t, lease)
		complains(t, []string{`lock "a"`, "lost"}, func(t testing.TB) { bedrocktest.Held(t, lease) })

		released := take(t, locks, "b")
		if err := released.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		complains(t, []string{`lock "b"`, "already released"}, func(t testing.TB) { bedrocktest.Lost(t, released) })
	})
}

// TestLossIsNotWaitedForWhenTheCallersContextIsOver: a wait was bounded, and the lock is held on.
func TestLossIsNotWaitedForWhenTheCallersContextIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := bedrocktest.NewBackend(memlock.NewBackend(nil))
		ctx, cancel := context.WithCancel(t.Context())
		lease, err := openLocks(t, b, nil).Mutex("a", nil).Lock(ctx)
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		b.TakeAway(t, "a")
		bedrocktest.Lost(t, lease)
	})
}
