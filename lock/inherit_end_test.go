package lock_test

import (
	"context"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// TestIdleWaiterIsNotTold: who has waited for long sleeps until the holder's time is up, and stands in no line
// any more. The lock is passed on to one that is frozen, and lives for a shorter time by that.
func TestIdleWaiterIsNotTold(t *testing.T) {
	virtual(t, func(t *testing.T) {
		r := newRelay(t, &lock.Options{Patience: time.Hour})
		idle := lockLater(t, t.Context(), open(t, memlock.NewBackend(r.store), nil).Mutex("a", nil))
		time.Sleep(10500 * time.Millisecond)
		late := lockLater(t, t.Context(), r.second.Mutex("a", nil))
		time.Sleep(100 * time.Millisecond)
		r.link.divert(func(driver.Grant) {})
		r.link.freeze()
		released := time.Now()
		mustUnlock(t, r.lease)
		lease := granted(t, idle)
		wantBetween(t, "after the release", time.Since(released), 0, 7*time.Second)
		mustUnlock(t, lease)
		r.link.heal()
		r.link.divert(nil)
		mustUnlock(t, granted(t, late))
	})
}

// slowReleases makes releases of the second client take long, and its messages be lost.
func (r *relay) slowReleases() {
	r.link.divert(func(driver.Grant) {})
	r.link.set(hooks{release: func(ctx context.Context, g driver.Grant) (int, error) {
		select {
		case <-time.After(2 * time.Second):
			return r.link.Backend.Release(ctx, g)
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}})
}

// TestGrantAtTheEndOfAWaitIsNotTold: the lock was passed on to who has just given up, or was stopped, and is not given
// back yet.
func TestGrantAtTheEndOfAWaitIsNotTold(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, r *relay, cancel func()){
		"cancelled": func(_ *testing.T, _ *relay, cancel func()) { cancel() },
		"stopped":   func(t *testing.T, r *relay, _ func()) { go func() { _ = r.second.Stop(t.Context()) }() },
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				r := newRelay(t, nil)
				r.slowReleases()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				next := lockLater(t, ctx, r.second.Mutex("a", nil))
				mustUnlock(t, r.lease)
				end(t, r, cancel)
				wantGrantTold(t, r.first, (<-next).err)
				time.Sleep(10 * time.Second)
			})
		})
	}
}

// TestEndOfAWaitIsInDoubt: whether it was granted is known before it is told, where the store answers.
func TestEndOfAWaitIsInDoubt(t *testing.T) {
	virtual(t, func(t *testing.T) {
		r := newRelay(t, nil)
		_, err := r.second.Mutex("a", &lock.MutexOptions{Wait: time.Second}).Lock(t.Context())
		wantErr(t, err, lock.ErrHeld)
		if lock.MaybeApplied(err) {
			t.Error(err)
		}
		mustUnlock(t, r.lease)
		mustUnlock(t, mustTryLock(t, r.first.Mutex("a", nil)))
	})
}

// TestLapsedPlaceIsKept: a request that stood long ago, and does not any more, is given back: the backend keeps what
// it knows of it until then.
func TestLapsedPlaceIsKept(t *testing.T) {
	virtual(t, func(t *testing.T) {
		r := newRelay(t, nil)
		next := lockLater(t, t.Context(), r.second.Mutex("a", nil))
		time.Sleep(20 * time.Second)
		stood := r.link.seen()[0]
		r.link.set(hooks{acquire: func(ctx context.Context, req driver.Request) (driver.Grant, error) {
			return r.link.Backend.Acquire(ctx, req)
		}})
		other := memlock.NewBackend(r.store)
		mustUnlock(t, r.lease)
		stranger := driver.Request{Name: "a", Owner: "x:1", TTL: time.Hour, Tokens: 1}
		g, err := other.Acquire(t.Context(), stranger)
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Second, func() { _, _ = other.Release(context.Background(), g) })
		mustUnlock(t, granted(t, next))
		if last := r.link.seen(); last[len(last)-1] == stood || r.link.releases.Load() < 2 {
			t.Errorf("owners %v, %d releases", last, r.link.releases.Load())
		}
	})
}
