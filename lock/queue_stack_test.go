//go:build !race

package lock_test

import (
	"context"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"testing/synctest"
)

// TestWaitersNeedLargeStacks: the smallest has 2 KB, and thousands may wait. With one call more on the way to where
// they are parked, or a larger one, each has twice as much. The race detector needs more.
func TestWaitersNeedLargeStacks(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	synctest.Test(t, func(t *testing.T) {
		const waiters = 1000
		locks := openMem(t, nil)
		m := locks.Mutex("a", nil)
		lease := mustLock(t, m)
		ctx, leave := context.WithCancel(t.Context())
		var group sync.WaitGroup
		// The collector looks at the stacks there are to choose how large the next ones begin: with these, as small
		// as can be, whatever ran in this process before.
		for range waiters {
			group.Go(func() { <-ctx.Done() })
		}
		synctest.Wait()
		before := stacks()
		for range waiters {
			group.Go(func() { _, _ = m.Lock(ctx) })
			// One after the other: who meets another on the way needs more for a moment, and keeps it.
			synctest.Wait()
		}
		if each := (stacks() - before) / waiters; each > 3000 {
			t.Errorf("each of %d waiters has a stack of %d bytes", waiters, each)
		}
		leave()
		group.Wait()
		mustUnlock(t, lease)
	})
}

// stacks returns how much memory the stacks of this process have.
func stacks() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.StackInuse
}
