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
		mustUnlock(t, granted(t, second))
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

// The end of the context and the turn come at the same moment: whoever got the
// lock, or the right to ask for it, it is not left behind.
func TestAWaiterCancelledAtTheMomentOfItsTurnLeavesNothingBehind(t *testing.T) {
	for name, count := range map[string]int{"handed off": 0, "its turn to ask": -1} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				locks := openMem(t, &lock.Options{HandOff: lock.HandOff{Count: count}})
				for range 500 {
					cancelAtTheTurn(t, locks)
				}
			})
		})
	}
}

func cancelAtTheTurn(t *testing.T, locks *lock.Client) {
	t.Helper()
	m := locks.Mutex("a", &lock.MutexOptions{Wait: time.Hour})
	blocker := mustLock(t, m)
	front := lockLater(t, t.Context(), m)
	ctx, cancel := context.WithCancel(t.Context())
	cancelled := lockLater(t, ctx, m)
	behind := lockLater(t, t.Context(), m)
	mustUnlock(t, blocker)
	held := granted(t, front) // of a grant with tokens for those behind
	cancel()
	mustUnlock(t, held) // most often before the cancelled one has run
	if got := <-cancelled; got.err == nil {
		mustUnlock(t, got.lease)
	} else {
		wantErr(t, got.err, context.Canceled)
	}
	mustUnlock(t, granted(t, behind))
}

func TestTryLockIsRefusedAtOnce(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
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
		store := memlock.NewStore(nil)
		locks, other := open(t, memlock.NewBackend(store), nil), open(t, memlock.NewBackend(store), nil)
		held := mustLock(t, other.Mutex("a", nil))
		waiting := lockLater(t, t.Context(), locks.Mutex("a", nil))
		_, err := locks.Mutex("a", nil).TryLock(t.Context())
		wantErr(t, err, lock.ErrHeld)
		mustUnlock(t, held)
		mustUnlock(t, granted(t, waiting))
	})
}

func TestLockGivesUpAfterItsLongestWait(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
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
		store := memlock.NewStore(nil)
		locks, other := open(t, memlock.NewBackend(store), nil), open(t, memlock.NewBackend(store), nil)
		held := mustLock(t, other.Mutex("a", nil))
		waiting := lockLater(t, t.Context(), locks.Mutex("a", nil))
		time.Sleep(time.Hour)
		start := time.Now()
		mustUnlock(t, held)
		lease := granted(t, waiting)
		wantEqual(t, "woken after", time.Since(start), 0)
		mustUnlock(t, lease)
	})
}

// The release comes after the refusal and before anybody listens.
func TestAReleaseBeforeListeningBeginsIsNotMissed(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		backend := newFaulty(store)
		locks, other := open(t, backend, nil), open(t, memlock.NewBackend(store), nil)
		held := mustLock(t, other.Mutex("a", nil))
		backend.set(hooks{watch: func(context.Context) error { return held.Unlock(context.Background()) }})
		start := time.Now()
		mustUnlock(t, mustLock(t, locks.Mutex("a", nil)))
		wantEqual(t, "time taken", time.Since(start), 0)
	})
}

// A watch that does not begin, or cannot be had, does not keep the front of the queue
// from asking.
func TestAWaiterThatCannotListenGoesOnAsking(t *testing.T) {
	for _, deaf := range []time.Duration{4 * time.Second, time.Minute} {
		virtual(t, func(t *testing.T) {
			store := memlock.NewStore(nil)
			backend := newFaulty(store)
			locks, other := open(t, backend, nil), open(t, memlock.NewBackend(store), nil)
			held := mustLock(t, other.Mutex("a", nil))
			backend.set(hooks{watch: func(ctx context.Context) error {
				select {
				case <-time.After(deaf):
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			}})
			waiting := lockLater(t, t.Context(), locks.Mutex("a", nil))
			time.Sleep(time.Second)
			if n := backend.acquires.Load(); n < 5 || n > 40 {
				t.Errorf("asked %d times in a second", n)
			}
			mustUnlock(t, held)
			start := time.Now()
			lease := granted(t, waiting)
			wantBetween(t, "the lock was free", time.Since(start), 0, 200*time.Millisecond)
			mustUnlock(t, lease)
		})
	}
}

func TestAWaiterTakesOverFromADeadHolder(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		dead := newFaulty(store)
		holder, locks := open(t, dead, nil), open(t, memlock.NewBackend(store), nil)
		mustLock(t, holder.Mutex("a", nil))
		dead.fail(errDown)
		got := <-lockLater(t, t.Context(), locks.Mutex("a", nil))
		wantBetween(t, "takeover", got.after, 29*time.Second, 31*time.Second)
		mustUnlock(t, got.lease)
	})
}

// The lock is passed on to a waiter whose context ends at that moment: it is given
// back, but its caller does not wait for the store, which is frozen.
func TestAWaiterCancelledAtTheMomentOfItsTurnDoesNotWaitForTheStore(t *testing.T) {
	for range 200 { // whoever of the two comes first
		virtual(t, func(t *testing.T) {
			backend := newFaulty(nil)
			locks := open(t, backend, nil)
			m := locks.Mutex("a", nil)
			first := mustLock(t, m)
			second := lockLater(t, t.Context(), m)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			third := lockLater(t, ctx, m)
			mustUnlock(t, first)
			held := granted(t, second) // of a grant with tokens for the third
			backend.freeze()
			over, end := context.WithCancel(t.Context())
			end()
			start := time.Now()
			cancel()
			_ = held.Unlock(over) // frozen, unless the lock is passed on
			got := <-third
			wantBetween(t, "the end of the wait", time.Since(start), 0, 200*time.Millisecond)
			if got.err == nil {
				_ = got.lease.Unlock(over)
			}
			backend.heal()
		})
	}
}
