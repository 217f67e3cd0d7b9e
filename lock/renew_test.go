package lock_test

import (
	"context"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

func TestALeaseHeldForHoursIsRenewed(t *testing.T) {
	virtual(t, func(t *testing.T) {
		locks := openMem(t, nil)
		lease := mustLock(t, locks.Mutex("a", nil))
		time.Sleep(5 * time.Hour)
		wantEqual(t, "state", lease.State(), lock.Held)
		wantErr(t, lease.Err(), nil)
		wantErr(t, lease.Context().Err(), nil)
		mustUnlock(t, lease)
	})
}

func TestAFailedRenewalIsRetried(t *testing.T) {
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		locks := open(t, backend, nil)
		lease := mustLock(t, locks.Mutex("a", nil))
		backend.set(hooks{renew: failRenewals(errDown)})
		time.Sleep(10 * time.Second)
		wantEqual(t, "before half", lease.State(), lock.Held)
		time.Sleep(15 * time.Second)
		wantEqual(t, "while renewals fail", lease.State(), lock.Unconfirmed)
		wantErr(t, lease.Err(), nil)
		wantErr(t, lease.Context().Err(), nil)
		if n := backend.renewals.Load(); n < 5 || n > 30 {
			t.Errorf("%d tries in 10 s", n)
		}
		backend.heal()
		time.Sleep(2 * time.Second)
		wantEqual(t, "after recovery", lease.State(), lock.Held)
		time.Sleep(time.Hour)
		wantEqual(t, "an hour later", lease.State(), lock.Held)
		mustUnlock(t, lease)
	})
}

func TestARenewalWhoseAnswerIsLostIsRetried(t *testing.T) {
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		locks := open(t, backend, nil)
		lease := mustLock(t, locks.Mutex("a", nil))
		backend.set(hooks{renew: func(ctx context.Context, grants []driver.Grant) []error {
			errs := backend.Backend.Renew(ctx, grants)
			if backend.renewals.Load()%3 != 0 {
				return allFail(grants, errMute)
			}
			return errs
		}})
		time.Sleep(time.Hour)
		if lease.Err() != nil {
			t.Error(lease.Err())
		}
		mustUnlock(t, lease)
	})
}

func TestAFixedLeaseIsNotRenewed(t *testing.T) {
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		locks := open(t, backend, nil)
		start := time.Now()
		lease := mustLock(t, locks.Mutex("a", &lock.MutexOptions{Fixed: true, TTL: time.Minute}))
		<-lease.Context().Done()
		wantEqual(t, "the lease", time.Since(start), time.Minute-1210*time.Millisecond) // 2 % and 10 ms
		wantCause(t, lease.Context(), lock.ErrLost)
		wantErr(t, lease.Unlock(t.Context()), lock.ErrLost)
		wantText(t, lease.Err(), "lost: its time is over")
		wantEqual(t, "renewals", backend.renewals.Load(), 0)
	})
}

func TestAnUnlockedLeaseIsNotRenewed(t *testing.T) {
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		locks := open(t, backend, nil)
		mustUnlock(t, mustLock(t, locks.Mutex("a", nil)))
		time.Sleep(time.Hour)
		wantEqual(t, "renewals", backend.renewals.Load(), 0)
	})
}

func TestARenewalUnderWayDoesNotReviveAnUnlockedLease(t *testing.T) {
	for name, answer := range map[string]error{"renewed": nil, "lost": driver.ErrLost, "no answer": errMute} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				backend := newFaulty(nil)
				locks := open(t, backend, nil)
				lease := mustLock(t, locks.Mutex("a", nil))
				backend.set(hooks{renew: func(_ context.Context, grants []driver.Grant) []error {
					time.Sleep(4 * time.Second)
					return allFail(grants, answer)
				}})
				time.Sleep(16 * time.Second) // a renewal is under way
				mustUnlock(t, lease)
				time.Sleep(time.Hour)
				wantEqual(t, "renewals", backend.renewals.Load(), 1)
				wantCause(t, lease.Context(), lock.ErrReleased)
			})
		})
	}
}

func TestMinHoldKeepsTheLock(t *testing.T) {
	tests := []struct {
		name       string
		worked     time.Duration
		unlockedAt time.Duration
	}{
		{"unlocked early", time.Second, time.Minute},
		{"unlocked at once", 0, time.Minute},
		{"unlocked late", 2 * time.Minute, 2 * time.Minute},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				locks := openMem(t, nil)
				m := locks.Mutex("a", &lock.MutexOptions{MinHold: time.Minute})
				start := time.Now()
				lease := mustLock(t, m)
				time.Sleep(test.worked)
				mustUnlock(t, lease)
				wantEqual(t, "unlock took", time.Since(start), test.worked)
				mustUnlock(t, mustLock(t, locks.Mutex("a", nil)))
				wantBetween(t, "free", time.Since(start), test.unlockedAt, test.unlockedAt+time.Second)
			})
		})
	}
}

// A renewal is under way at the unlock, and arrives after it: the lock is kept for the
// minimum hold time, and not for a whole lease.
func TestARenewalUnderWayDoesNotProlongTheMinimumHold(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		backend := newFaulty(store)
		locks, other := open(t, backend, &lock.Options{TTL: time.Minute}), open(t, memlock.NewBackend(store), nil)
		backend.set(hooks{renew: func(ctx context.Context, grants []driver.Grant) []error {
			if grants[0].TTL == time.Minute {
				time.Sleep(3 * time.Second)
			}
			return backend.Backend.Renew(ctx, grants)
		}})
		start := time.Now()
		lease := mustLock(t, locks.Mutex("a", &lock.MutexOptions{MinHold: 40 * time.Second}))
		for backend.renewals.Load() == 0 {
			time.Sleep(10 * time.Millisecond)
		}
		mustUnlock(t, lease)
		mustUnlock(t, mustLock(t, other.Mutex("a", nil)))
		wantBetween(t, "the lock was free", time.Since(start), 40*time.Second, 41*time.Second)
	})
}

// The store does not answer when the lock is unlocked, and does a while later: the
// minimum is kept to all the same.
func TestMinHoldIsKeptThoughTheStoreWasAwayAtUnlock(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		backend := newFaulty(store)
		locks, other := open(t, backend, &lock.Options{TTL: 10 * time.Second}), open(t, memlock.NewBackend(store), nil)
		start := time.Now()
		lease := mustLock(t, locks.Mutex("a", &lock.MutexOptions{MinHold: time.Minute}))
		backend.fail(errDown)
		if err := lease.Unlock(t.Context()); !lock.MaybeApplied(err) {
			t.Errorf("unlock: %v", err)
		}
		time.Sleep(5 * time.Second)
		backend.heal()
		mustUnlock(t, mustLock(t, other.Mutex("a", nil)))
		wantBetween(t, "the lock was free", time.Since(start), time.Minute, time.Minute+time.Second)
	})
}

// The store is away for longer than the minimum: the lock does not stand for the rest of
// a life that nobody asked for.
func TestAMinHoldThatWasNeverToldEndsWithTheLease(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		backend := newFaulty(store)
		locks, other := open(t, backend, &lock.Options{TTL: time.Hour}), open(t, memlock.NewBackend(store), nil)
		start := time.Now()
		lease := mustLock(t, locks.Mutex("a", &lock.MutexOptions{MinHold: time.Minute}))
		backend.fail(errDown)
		if err := lease.Unlock(t.Context()); !lock.MaybeApplied(err) {
			t.Errorf("unlock: %v", err)
		}
		time.Sleep(2 * time.Minute)
		backend.heal()
		mustUnlock(t, mustLock(t, other.Mutex("a", nil)))
		wantBetween(t, "the lock was free", time.Since(start), 2*time.Minute, 2*time.Minute+time.Second)
	})
}

// A copy of the request that was answered late arrives after the unlock, and makes the
// lease run anew: the lock is kept for the minimum hold time, and not for a whole lease.
func TestALateRequestDoesNotProlongTheMinimumHold(t *testing.T) {
	for when, c := range map[string]struct{ late, free time.Duration }{
		"within the minimum": {3 * time.Second, time.Minute}, "after it": {2 * time.Minute, 2 * time.Minute},
	} {
		t.Run(when, func(t *testing.T) { lateRequest(t, c.late, c.free) })
	}
}

// lateRequest unlocks a lock that is to be held for a minute, of whose request a copy
// arrives so late, and checks when it is free for good.
func lateRequest(t *testing.T, late, free time.Duration) {
	t.Helper()
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		backend := newFaulty(store)
		locks, other := open(t, backend, &lock.Options{TTL: time.Hour}), open(t, memlock.NewBackend(store), nil)
		ended := make(chan struct{})
		backend.set(hooks{acquire: func(ctx context.Context, req driver.Request) (driver.Grant, error) {
			backend.heal()
			time.AfterFunc(late, func() {
				defer close(ended)
				_, _ = backend.Backend.Acquire(ctx, req)
			})
			return driver.Grant{}, &driver.UnderwayError{Err: errDown, Ended: ended}
		}})
		start := time.Now()
		mustUnlock(t, mustLock(t, locks.Mutex("a", &lock.MutexOptions{MinHold: time.Minute})))
		<-ended
		mustUnlock(t, mustLock(t, other.Mutex("a", nil)))
		wantBetween(t, "the lock was free", time.Since(start), free, free+time.Second)
	})
}
