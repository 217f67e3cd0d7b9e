package lock_test

import (
	"context"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

type contextKey struct{}

func TestReentryIsCounted(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		locks, other := open(t, memlock.NewBackend(store), nil), open(t, memlock.NewBackend(store), nil)
		outer := mustLock(t, locks.Mutex("a", nil))
		inner := mustLockIn(t, outer.Context(), locks.Mutex("a", nil))
		innermost, err := locks.Mutex("a", nil).TryLock(inner.Context())
		wantErr(t, err, nil)
		wantEqual(t, "token", innermost.Token(), outer.Token())
		wantEqual(t, "owner", innermost.Owner(), outer.Owner())
		for _, lease := range []*lock.Lease{innermost, inner} {
			mustUnlock(t, lease)
			wantCause(t, lease.Context(), lock.ErrReleased)
			wantEqual(t, "inner state", lease.State(), lock.Released)
			wantEqual(t, "outer state", outer.State(), lock.Held)
			_, err := other.Mutex("a", nil).TryLock(t.Context())
			wantErr(t, err, lock.ErrHeld)
		}
		mustUnlock(t, outer)
		mustUnlock(t, mustLock(t, other.Mutex("a", nil)))
	})
}

func TestTheLockIsKeptUntilTheLastUnlockInAnyOrder(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		locks, other := open(t, memlock.NewBackend(store), nil), open(t, memlock.NewBackend(store), nil)
		outer := mustLock(t, locks.Mutex("a", nil))
		inner := mustLockIn(t, context.WithoutCancel(outer.Context()), locks.Mutex("a", nil))
		mustUnlock(t, outer)
		wantEqual(t, "outer state", outer.State(), lock.Released)
		wantEqual(t, "inner state", inner.State(), lock.Held)
		wantErr(t, inner.Context().Err(), nil)
		time.Sleep(time.Hour)
		_, err := other.Mutex("a", nil).TryLock(t.Context())
		wantErr(t, err, lock.ErrHeld)
		mustUnlock(t, inner)
		mustUnlock(t, mustLock(t, other.Mutex("a", nil)))
	})
}

func TestReentryWorksThroughDerivedContextsAndOtherGoroutines(t *testing.T) {
	virtual(t, func(t *testing.T) {
		locks := openMem(t, nil)
		outer := mustLock(t, locks.Mutex("a", nil))
		between := mustLockIn(t, outer.Context(), locks.Mutex("b", nil))
		ctx, cancel := context.WithTimeout(context.WithValue(between.Context(), contextKey{}, 1), time.Hour)
		defer cancel()
		got := <-lockLater(t, ctx, locks.Mutex("a", nil))
		wantErr(t, got.err, nil)
		wantEqual(t, "owner", got.lease.Owner(), outer.Owner())
		for _, lease := range []*lock.Lease{got.lease, between, outer} {
			mustUnlock(t, lease)
		}
	})
}

func TestReentryNeedsTheLeaseOfTheSameLock(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		locks, other := open(t, memlock.NewBackend(store), nil), open(t, memlock.NewBackend(store), nil)
		outer := mustLock(t, locks.Mutex("a", nil))
		_, err := other.Mutex("a", nil).TryLock(outer.Context())
		wantErr(t, err, lock.ErrHeld)
		_, err = locks.Mutex("a", nil).TryLock(t.Context())
		wantErr(t, err, lock.ErrHeld)
		b := mustLockIn(t, outer.Context(), locks.Mutex("b", nil))
		if b.Owner() == outer.Owner() {
			t.Error("the lock on one name entered another")
		}
		mustUnlock(t, b)
		mustUnlock(t, outer)
	})
}

func TestALostLockIsNotReentered(t *testing.T) {
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		locks := open(t, backend, nil)
		outer := mustLock(t, locks.Mutex("a", nil))
		ctx := context.WithoutCancel(outer.Context())
		backend.suspend(time.Minute)
		next := mustLockIn(t, ctx, locks.Mutex("a", nil))
		wantErr(t, next.Err(), nil)
		if next.Owner() == outer.Owner() {
			t.Error("the lock that was lost was entered")
		}
		_, err := locks.Mutex("a", nil).Lock(outer.Context())
		wantErr(t, err, lock.ErrLost)
		mustUnlock(t, next)
	})
}

func TestAReleasedLockIsNotReentered(t *testing.T) {
	virtual(t, func(t *testing.T) {
		locks := openMem(t, nil)
		outer := mustLock(t, locks.Mutex("a", nil))
		mustUnlock(t, outer)
		_, err := locks.Mutex("a", nil).Lock(outer.Context())
		wantErr(t, err, lock.ErrReleased)
		wantErr(t, err, context.Canceled)
	})
}

// A context may outlive the lease it carries. Whoever has one then stands in the queue
// like any other: the lease does not bar the name to it for ever.
func TestAContextThatOutlivesItsLeaseLocksAgain(t *testing.T) {
	virtual(t, func(t *testing.T) {
		locks := openMem(t, nil)
		outer := mustLock(t, locks.Mutex("a", nil))
		ctx := context.WithoutCancel(outer.Context())
		mustUnlock(t, outer)
		again := mustLockIn(t, ctx, locks.Mutex("a", nil))
		wantErr(t, again.Err(), nil)
		_, err := locks.Mutex("a", nil).TryLock(ctx) // that carries the first lease, not this one
		wantErr(t, err, lock.ErrHeld)
		inner, err := locks.Mutex("a", nil).TryLock(again.Context())
		wantErr(t, err, nil)
		mustUnlock(t, again)
		further := mustLockIn(t, context.WithoutCancel(inner.Context()), locks.Mutex("a", nil))
		wantEqual(t, "owner", further.Owner(), again.Owner())
		mustUnlock(t, inner)
		mustUnlock(t, further)
	})
}

// Every lease of a lock that was entered several times is told of its loss, also
// those whose context does not descend from the others'.
func TestEveryLeaseOfAReenteredLockIsToldOfTheLoss(t *testing.T) {
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		locks := open(t, backend, nil)
		outer := mustLock(t, locks.Mutex("a", nil))
		inner := mustLockIn(t, outer.Context(), locks.Mutex("a", nil))
		apart := mustLockIn(t, context.WithoutCancel(outer.Context()), locks.Mutex("a", nil))
		backend.set(hooks{renew: failRenewals(errDown)})
		time.Sleep(time.Minute)
		for _, lease := range []*lock.Lease{outer, inner, apart} {
			wantCause(t, lease.Context(), lock.ErrLost)
			wantEqual(t, "state", lease.State(), lock.Lost)
			wantErr(t, lease.Err(), lock.ErrLost)
			wantErr(t, lease.Unlock(t.Context()), lock.ErrLost)
		}
	})
}

// TestALostLeaseSaysWhyAtOnce: whoever sees one lease of a lock end finds that all are over,
// although their contexts end one after the other.
func TestALostLeaseSaysWhyAtOnce(t *testing.T) {
	virtual(t, func(t *testing.T) {
		locks := open(t, newFaulty(nil), nil)
		m := locks.Mutex("a", nil)
		outer := mustLock(t, m)
		inner := make([]*lock.Lease, 5000)
		for i := range inner {
			inner[i] = mustLockIn(t, outer.Context(), m)
			inner[i].Context()
		}
		_, err := locks.ForceRelease(t.Context(), "a")
		wantErr(t, err, nil)
		<-outer.Context().Done()
		silent := 0
		for _, lease := range inner {
			if lease.Err() == nil {
				silent++
			}
		}
		wantEqual(t, "leases that do not know", silent, 0)
	})
}

// TestALeaseReleasedBeforeTheLossIsTwoThings: one that was unlocked while the lock went on was over in
// good order, the first one as those inside, and State says what Err does.
func TestALeaseReleasedBeforeTheLossIsTwoThings(t *testing.T) {
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		locks := open(t, backend, nil)
		outer := mustLock(t, locks.Mutex("a", nil))
		inner := mustLockIn(t, outer.Context(), locks.Mutex("a", nil))
		last := mustLockIn(t, outer.Context(), locks.Mutex("a", nil))
		mustUnlock(t, inner)
		mustUnlock(t, outer)
		backend.TakeAway(t, "a")
		time.Sleep(time.Minute)
		wantEqual(t, "state of the holder", last.State(), lock.Lost)
		wantErr(t, last.Err(), lock.ErrLost)
		for _, l := range []*lock.Lease{inner, outer} {
			wantEqual(t, "state", l.State(), lock.Released)
			wantErr(t, l.Err(), lock.ErrReleased)
			wantCause(t, l.Context(), lock.ErrReleased)
		}
	})
}
