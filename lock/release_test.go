package lock_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

func TestUnlockTwiceIsAnError(t *testing.T) {
	virtual(t, func(t *testing.T) {
		locks := openMem(t, nil)
		lease := mustLock(t, locks.Mutex("a", nil))
		mustUnlock(t, lease)
		next := mustLock(t, locks.Mutex("a", nil))
		wantErr(t, lease.Unlock(t.Context()), lock.ErrReleased)
		wantEqual(t, "state of the next", next.State(), lock.Held)
		mustUnlock(t, next)
	})
}

func TestUnlockTwiceDoesNotEndAnOuterLease(t *testing.T) {
	virtual(t, func(t *testing.T) {
		locks := openMem(t, nil)
		outer := mustLock(t, locks.Mutex("a", nil))
		inner := mustLockIn(t, outer.Context(), locks.Mutex("a", nil))
		mustUnlock(t, inner)
		wantErr(t, inner.Unlock(t.Context()), lock.ErrReleased)
		wantEqual(t, "state of the outer", outer.State(), lock.Held)
		mustUnlock(t, outer)
	})
}

func TestUnlockWorksWhenTheContextIsOver(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		backend := newFaulty(store)
		locks, other := open(t, backend, nil), open(t, memlock.NewBackend(store), nil)
		backend.set(hooks{release: func(ctx context.Context, g driver.Grant) (int, error) {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
			return backend.Backend.Release(ctx, g)
		}})
		ctx, cancel := context.WithCancel(t.Context())
		lease := mustLockIn(t, ctx, locks.Mutex("a", nil))
		cancel()
		wantErr(t, lease.Unlock(ctx), nil)
		next, err := other.Mutex("a", nil).TryLock(t.Context())
		wantErr(t, err, nil)
		mustUnlock(t, next)
	})
}

// Unlock returns within 200 ms of its context's end while the backend hangs, and
// the release goes on in the background until it is done.
func TestUnlockOnAFrozenBackendGoesOnInTheBackground(t *testing.T) {
	for name, limit := range map[string]time.Duration{"ends later": time.Second, "over already": 0} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				store := memlock.NewStore(nil)
				backend := newFaulty(store)
				locks, other := open(t, backend, nil), open(t, memlock.NewBackend(store), nil)
				lease := mustLock(t, locks.Mutex("a", nil))
				backend.freeze()
				ctx, cancel := context.WithTimeout(t.Context(), limit)
				defer cancel()
				start := time.Now()
				err := lease.Unlock(ctx)
				wantBetween(t, "Unlock", time.Since(start), limit, limit+200*time.Millisecond)
				wantErr(t, err, context.DeadlineExceeded)
				wantEqual(t, "may have been applied", lock.MaybeApplied(err), true)
				wantText(t, err, "background")
				wantCause(t, lease.Context(), lock.ErrReleased)
				time.Sleep(3 * time.Second)
				backend.heal()
				mustUnlock(t, mustLock(t, other.Mutex("a", nil)))
				wantBetween(t, "the lock was free", time.Since(start), 3*time.Second, 12*time.Second)
			})
		})
	}
}

// A release that gets no answer does not hold up the others of this process: whoever gives the
// lock back waits for one answer, as long as they would, and somebody else goes on.
func TestAReleaseThatHangsHoldsUpTheQueue(t *testing.T) {
	for name, minHold := range map[string]time.Duration{"released": 0, "kept": 2 * time.Second} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				backend := newFaulty(nil)
				locks := open(t, backend, &lock.Options{Patience: 3 * time.Second})
				lease := mustLock(t, locks.Mutex("a", &lock.MutexOptions{MinHold: minHold}))
				backend.freeze()
				next := make(chan error, 1)
				go func() {
					_, err := locks.Mutex("a", nil).Lock(t.Context())
					next <- err
				}()
				synctest.Wait()
				time.Sleep(time.Second)
				start := time.Now()
				err := lease.Unlock(t.Context())
				wantBetween(t, "Unlock", time.Since(start), time.Second, 1500*time.Millisecond)
				wantErr(t, err, driver.ErrUnavailable)
				wantEqual(t, "may have been applied", lock.MaybeApplied(err), true)
				wantText(t, err, "no answer in 1.5s")
				wantErr(t, <-next, driver.ErrUnavailable)
				wantBetween(t, "who waited", time.Since(start), 3*time.Second, 4500*time.Millisecond)
				backend.heal()
				mustUnlock(t, mustLock(t, locks.Mutex("a", nil)))
			})
		})
	}
}

func TestUnlockWithABackendThatIsDownIsSettledLater(t *testing.T) {
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		locks := open(t, backend, nil)
		lease := mustLock(t, locks.Mutex("a", nil))
		backend.fail(errDown)
		err := lease.Unlock(t.Context())
		wantErr(t, err, driver.ErrUnavailable)
		wantEqual(t, "may have been applied", lock.MaybeApplied(err), true)
		time.Sleep(5 * time.Second)
		backend.heal()
		start := time.Now()
		mustUnlock(t, mustLock(t, locks.Mutex("a", nil)))
		wantBetween(t, "the lock was free", time.Since(start), 0, time.Second)
	})
}

// A clean-up that never succeeds ends with the grant's own life.
func TestCleanUpEndsWithTheLease(t *testing.T) {
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		locks := open(t, backend, nil)
		lease := mustLock(t, locks.Mutex("a", nil))
		backend.fail(errDown)
		wantErr(t, lease.Unlock(t.Context()), driver.ErrUnavailable)
		time.Sleep(time.Minute)
		n := backend.releases.Load()
		if n < 30 || n > 100 {
			t.Errorf("%d releases in the 32 s of the grant's life", n)
		}
		time.Sleep(time.Hour)
		wantEqual(t, "releases", backend.releases.Load(), n)
	})
}

func TestCleanUpStopsWhenRefused(t *testing.T) {
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		locks := open(t, backend, nil)
		lease := mustLock(t, locks.Mutex("a", nil))
		backend.fail(driver.ErrRefused)
		wantErr(t, lease.Unlock(t.Context()), driver.ErrRefused)
		time.Sleep(time.Minute)
		wantEqual(t, "releases", backend.releases.Load(), 2)
	})
}

// Nothing is open when the backend says that it releases nothing: whoever asks knows that the lock is still there.
func TestARefusedReleaseIsTakenForAnUnclearOne(t *testing.T) {
	for text, minHold := range map[string]time.Duration{"not released": 0, "not kept": time.Minute} {
		virtual(t, func(t *testing.T) {
			backend := newFaulty(nil)
			locks := open(t, backend, nil)
			lease := mustLock(t, locks.Mutex("a", &lock.MutexOptions{MinHold: minHold}))
			backend.fail(driver.ErrRefused)
			err := lease.Unlock(t.Context())
			wantErr(t, err, driver.ErrRefused)
			wantEqual(t, "may have been applied", lock.MaybeApplied(err), false)
			wantText(t, err, text)
			wantText(t, err, "it runs out by itself")
		})
	}
}
