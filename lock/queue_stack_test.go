//go:build !race

package lock_test

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"
)

// TestWaitersNeedLargeStacks: the smallest has 2 KB, and thousands may wait. With one call more on the way to where
// they are parked, or a larger one, each has twice as much. The race detector needs more.
func TestWaitersNeedLargeStacks(t *testing.T) {
	const waiters = 1000
	locks := openMem(t, nil)
	m := locks.Mutex("a", nil)
	lease := mustLock(t, m)
	ctx, leave := context.WithCancel(t.Context())
	before := stacks()
	var group sync.WaitGroup
	for range waiters {
		group.Go(func() { _, _ = m.Lock(ctx) })
	}
	for parked := 0; parked < waiters; <-time.After(time.Millisecond) {
		info, err := locks.Inspect(t.Context(), "a")
		if wantErr(t, err, nil); info.Local > parked {
			parked = info.Local
		}
	}
	if each := (stacks() - before) / waiters; each > 3000 {
		t.Errorf("each of %d waiters has a stack of %d bytes", waiters, each)
	}
	leave()
	group.Wait()
	mustUnlock(t, lease)
}

// stacks returns how much memory the stacks of this process have.
func stacks() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.StackInuse
}
