package lock_test

import (
	"context"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// TestWhoHasAskedComesAfterThoseBesideTheHolder who wait in its process, and are next door to the store.
func TestWhoHasAskedComesAfterThoseBesideTheHolder(t *testing.T) {
	for kind, of := range heldInWays() {
		for _, way := range []time.Duration{time.Millisecond, 5 * time.Millisecond} {
			t.Run(kind+", "+way.String(), func(t *testing.T) {
				virtual(t, func(t *testing.T) {
					store := memlock.NewStore(nil)
					near, far := open(t, memlock.NewBackend(store), nil), open(t, newDistant(store, way), nil)
					held, waits := of(t, near), waiterBeside(kind)
					there := lockLater(t, t.Context(), waits(far))
					time.Sleep(time.Second)
					here := lockLater(t, t.Context(), waits(near))
					time.Sleep(10 * time.Millisecond)
					askFor(t, near, held)
					mustUnlock(t, held)
					wantFirst(t, there, here)
				})
			})
		}
	}
}

// heldInWays has a lock in all ways in which it may be asked for, and others kept off.
func heldInWays() map[string]func(t *testing.T, c *lock.Client) *lock.Lease {
	rw := func(c *lock.Client) *lock.RWMutex { return c.RWMutex("a", nil) }
	must := func(t *testing.T, lease *lock.Lease, err error) *lock.Lease {
		t.Helper()
		wantErr(t, err, nil)
		return lease
	}
	return map[string]func(t *testing.T, c *lock.Client) *lock.Lease{
		"mutex":       func(t *testing.T, c *lock.Client) *lock.Lease { return mustLock(t, c.Mutex("a", nil)) },
		"fixed mutex": func(t *testing.T, c *lock.Client) *lock.Lease { return mustLock(t, fixedMutex(c)) },
		"writer":      func(t *testing.T, c *lock.Client) *lock.Lease { return mustLock(t, rw(c).Writer()) },
		"reader":      func(t *testing.T, c *lock.Client) *lock.Lease { return mustLock(t, rw(c).Reader()) },
		"writer after readers": func(t *testing.T, c *lock.Client) *lock.Lease {
			return mustLock(t, c.RWMutex("a", &lock.RWMutexOptions{ReadersFirst: true}).Writer())
		},
		"upgradeable reader": func(t *testing.T, c *lock.Client) *lock.Lease {
			lease, err := rw(c).RLockUpgradeable(t.Context())
			return must(t, lease, err)
		},
		"reader who has tried": func(t *testing.T, c *lock.Client) *lock.Lease {
			lease, err := rw(c).TryRLock(t.Context())
			return must(t, lease, err)
		},
		"reader who has written": func(t *testing.T, c *lock.Client) *lock.Lease {
			lease, err := mustLock(t, rw(c).Writer()).Downgrade(t.Context())
			return must(t, lease, err)
		},
	}
}

// waiterBeside returns what somebody waits for who is kept off by who has the lock in that way.
func waiterBeside(kind string) func(c *lock.Client) lock.Lockable {
	switch kind {
	case "mutex":
		return func(c *lock.Client) lock.Lockable { return c.Mutex("a", nil) }
	case "fixed mutex":
		return func(c *lock.Client) lock.Lockable { return fixedMutex(c) }
	default:
		return func(c *lock.Client) lock.Lockable { return c.RWMutex("a", nil).Writer() }
	}
}

func fixedMutex(c *lock.Client) *lock.Mutex {
	return c.Mutex("a", &lock.MutexOptions{Fixed: true, TTL: time.Minute})
}

// askFor has the holder of a be asked for it.
func askFor(t *testing.T, c *lock.Client, held *lock.Lease) {
	t.Helper()
	_, err := c.Ask(t.Context(), "a", "please", 0)
	wantErr(t, err, nil)
	<-held.Asked()
}

// wantFirst wants one of two who wait to have the lock before the other.
func wantFirst(t *testing.T, first, second <-chan outcome) {
	t.Helper()
	select {
	case got := <-second:
		t.Error("who has waited in the holder's process comes first")
		mustUnlock(t, got.lease)
		mustUnlock(t, granted(t, first))
	case got := <-first:
		wantErr(t, got.err, nil)
		mustUnlock(t, got.lease)
		mustUnlock(t, granted(t, second))
	}
}

// TestWhoIsAskedIsForgottenWithWhoWaitsBeside: the wait of the one ends while the release is on its way.
func TestWhoIsAskedIsForgottenWithWhoWaitsBeside(t *testing.T) {
	virtual(t, func(t *testing.T) {
		const way = 2 * time.Millisecond
		store := memlock.NewStore(nil)
		near, far := open(t, slowToRelease(store, way, way), nil), open(t, newDistant(store, 5*time.Millisecond), nil)
		held := mustLock(t, near.RWMutex("a", nil).Reader())
		there := lockLater(t, t.Context(), far.RWMutex("a", nil).Writer())
		time.Sleep(time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		cancelled := lockLater(t, ctx, near.RWMutex("a", nil).Writer())
		time.Sleep(10 * time.Millisecond)
		here := lockLater(t, t.Context(), near.RWMutex("a", nil).Writer())
		time.Sleep(10 * time.Millisecond)
		askFor(t, near, held)
		time.AfterFunc(way+time.Millisecond, cancel)
		mustUnlock(t, held)
		wantErr(t, (<-cancelled).err, context.Canceled)
		wantFirst(t, there, here)
	})
}

// TestOwnReleasesUseUpAWait that is limited: of what is left, half is for the lock itself.
func TestOwnReleasesUseUpAWait(t *testing.T) {
	virtual(t, func(t *testing.T) {
		near := open(t, slowToRelease(memlock.NewStore(nil), 0, 50*time.Millisecond), nil)
		held := mustLock(t, near.RWMutex("a", nil).Reader())
		ctx, cancel := context.WithTimeout(t.Context(), time.Second+40*time.Millisecond)
		defer cancel()
		here := lockLater(t, ctx, near.RWMutex("a", nil).Writer())
		time.Sleep(time.Second)
		askFor(t, near, held)
		mustUnlock(t, held)
		mustUnlock(t, granted(t, here))
	})
}

// slowToRelease is a store to which a release takes its time, and from which the answer does.
func slowToRelease(store *memlock.Store, there, back time.Duration) *faulty {
	f := newFaulty(store)
	f.set(hooks{release: func(ctx context.Context, g driver.Grant) (int, error) {
		time.Sleep(there)
		n, err := f.Backend.Release(ctx, g)
		time.Sleep(back)
		return n, err
	}})
	return f
}
