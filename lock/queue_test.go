package lock_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

func TestWaitersAreServedFirstComeFirstServed(t *testing.T) {
	for _, count := range []int{-1, 0, 3} {
		virtual(t, func(t *testing.T) {
			locks := openMem(t, &lock.Options{HandOff: lock.HandOff{Count: count}})
			held := mustLock(t, locks.Mutex("a", nil))
			var (
				served []int
				group  sync.WaitGroup
			)
			for i := range 20 {
				group.Go(func() {
					lease := mustLock(t, locks.Mutex("a", nil))
					served = append(served, i) // the lock guards it
					mustUnlock(t, lease)
				})
				synctest.Wait()
			}
			mustUnlock(t, held)
			group.Wait()
			if !slices.IsSorted(served) || len(served) != 20 {
				t.Errorf("served in the order %v", served)
			}
		})
	}
}

func TestNamesDoNotWaitForEachOther(t *testing.T) {
	virtual(t, func(t *testing.T) {
		locks := openMem(t, nil)
		for _, name := range []string{"a", "b", "A", "a ", "a/b", "\u00e4", "a\u0308"} {
			lease := mustLock(t, locks.Mutex(name, nil))
			defer mustUnlock(t, lease)
		}
	})
}

func TestAWaiterThatGivesUpLeavesTheQueue(t *testing.T) {
	virtual(t, func(t *testing.T) {
		locks := openMem(t, nil)
		held := mustLock(t, locks.Mutex("a", nil))
		ctx, cancel := context.WithCancel(t.Context())
		first := lockLater(t, ctx, locks.Mutex("a", nil))
		second := lockLater(t, t.Context(), locks.Mutex("a", nil))
		cancel()
		got := <-first
		wantErr(t, got.err, context.Canceled)
		wantText(t, got.err, `lock "a"`, "waited")
		mustUnlock(t, held)
		mustUnlock(t, (<-second).lease)
	})
}

func TestACancelledWaitSaysWhy(t *testing.T) {
	virtual(t, func(t *testing.T) {
		locks := openMem(t, nil)
		defer mustUnlock(t, mustLock(t, locks.Mutex("a", nil)))
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errTired)
		defer cancel()
		_, err := locks.Mutex("a", nil).Lock(ctx)
		wantErr(t, err, context.DeadlineExceeded)
		wantErr(t, err, errTired)
		wantText(t, err, "waited 1s")
	})
}

// The turn and the end of the context come at the same moment, in either order:
// whoever got the lock, it is not left behind.
func TestAWaiterCancelledAtTheMomentOfItsTurnLeavesNothingBehind(t *testing.T) {
	for _, count := range []int{-1, 0} {
		locks := openMem(t, &lock.Options{HandOff: lock.HandOff{Count: count}})
		for range 2000 {
			cancelAtTheTurn(t, locks)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		mustUnlock(t, mustLockIn(t, ctx, locks.Mutex("a", nil)))
	}
}

func cancelAtTheTurn(t *testing.T, locks *lock.Client) {
	t.Helper()
	held := mustLock(t, locks.Mutex("a", nil))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		lease, err := locks.Mutex("a", nil).Lock(ctx)
		if err == nil {
			err = lease.Unlock(context.Background())
		}
		done <- err
	}()
	go cancel()
	mustUnlock(t, held)
	if err := <-done; err != nil {
		wantErr(t, err, context.Canceled)
	}
}

func TestTryLockIsRefusedAtOnce(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore()
		locks, other := open(t, memlock.NewBackend(store), nil), open(t, memlock.NewBackend(store), nil)
		held := mustLock(t, locks.Mutex("a", nil))
		start := time.Now()
		for _, c := range []*lock.Client{locks, other} {
			_, err := c.Mutex("a", nil).TryLock(t.Context())
			wantHeldBy(t, err, "a", held.Owner())
		}
		wantEqual(t, "time taken", time.Since(start), 0)
		mustUnlock(t, held)
		lease, err := other.Mutex("a", nil).TryLock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		mustUnlock(t, lease)
	})
}

func TestTryLockDoesNotOvertakeWhoWaits(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore()
		locks, other := open(t, memlock.NewBackend(store), nil), open(t, memlock.NewBackend(store), nil)
		held := mustLock(t, other.Mutex("a", nil))
		waiting := lockLater(t, t.Context(), locks.Mutex("a", nil))
		_, err := locks.Mutex("a", nil).TryLock(t.Context())
		wantErr(t, err, lock.ErrHeld)
		mustUnlock(t, held)
		mustUnlock(t, (<-waiting).lease)
	})
}

func TestLockGivesUpAfterItsLongestWait(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore()
		locks, other := open(t, memlock.NewBackend(store), nil), open(t, memlock.NewBackend(store), nil)
		held := mustLock(t, locks.Mutex("a", nil))
		for _, c := range []*lock.Client{locks, other} {
			start := time.Now()
			_, err := c.Mutex("a", &lock.MutexOptions{Wait: time.Minute}).Lock(t.Context())
			wantErr(t, err, lock.ErrHeld)
			wantEqual(t, "waited", time.Since(start), time.Minute)
		}
		mustUnlock(t, held)
	})
}

func TestTheLongestWaitDoesNotEndTheLease(t *testing.T) {
	virtual(t, func(t *testing.T) {
		locks := openMem(t, nil)
		lease := mustLock(t, locks.Mutex("a", &lock.MutexOptions{Wait: time.Second}))
		time.Sleep(time.Hour)
		if err := lease.Context().Err(); err != nil {
			t.Error(err)
		}
		mustUnlock(t, lease)
	})
}

func TestTheContextsEndComesBeforeTheLongestWait(t *testing.T) {
	virtual(t, func(t *testing.T) {
		locks := openMem(t, nil)
		defer mustUnlock(t, mustLock(t, locks.Mutex("a", nil)))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := locks.Mutex("a", &lock.MutexOptions{Wait: time.Minute}).Lock(ctx)
		wantErr(t, err, context.DeadlineExceeded)
	})
}

func TestAReleaseElsewhereWakesTheWaiter(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore()
		locks, other := open(t, memlock.NewBackend(store), nil), open(t, memlock.NewBackend(store), nil)
		held := mustLock(t, other.Mutex("a", nil))
		waiting := lockLater(t, t.Context(), locks.Mutex("a", nil))
		time.Sleep(time.Hour)
		start := time.Now()
		mustUnlock(t, held)
		lease := (<-waiting).lease
		wantEqual(t, "woken after", time.Since(start), 0)
		mustUnlock(t, lease)
	})
}

func TestAWaiterTakesOverFromADeadHolder(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore()
		dead := newFaulty(store)
		holder, locks := open(t, dead, nil), open(t, memlock.NewBackend(store), nil)
		mustLock(t, holder.Mutex("a", nil))
		dead.fail(errDown)
		got := <-lockLater(t, t.Context(), locks.Mutex("a", nil))
		wantBetween(t, "takeover", got.after, 29*time.Second, 31*time.Second)
		mustUnlock(t, got.lease)
	})
}
