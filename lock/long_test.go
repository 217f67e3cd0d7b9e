//go:build !race

// What is shown here takes hours of virtual time, or thousands of leases: the race detector makes that some ten
// times as slow, and what runs is raced by all other tests.

package lock_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

func TestManyLeasesCostOneTimerAndNoGoroutine(t *testing.T) {
	tests := []struct {
		leases int
		held   time.Duration
	}{
		{100_000, 2 * time.Minute},
		{2_000, time.Hour},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("%d for %s", test.leases, test.held), func(t *testing.T) {
			virtual(t, func(t *testing.T) { holdMany(t, test.leases, test.held) })
		})
	}
}

func holdMany(t *testing.T, n int, held time.Duration) {
	t.Helper()
	locks := openMem(t, nil)
	before := runtime.NumGoroutine()
	leases := make([]*lock.Lease, n)
	for i := range leases {
		leases[i] = mustLock(t, locks.Mutex(fmt.Sprint(i), nil))
	}
	if more := runtime.NumGoroutine() - before; more > 0 { // fewer: one of another test has ended
		t.Errorf("%d goroutines more", more)
	}
	for range 4 {
		time.Sleep(held / 4)
		synctest.Wait()
		if grown := runtime.NumGoroutine() - before; grown > 1 { // one lane, while it renews
			t.Errorf("%d goroutines more for %d leases", grown, n)
		}
	}
	for _, lease := range leases {
		if lease.State() != lock.Held {
			t.Fatalf("%s is %s", lease.Name(), lease.State())
		}
	}
}

// TestAWriterFarAwayIsStarvedByTurnsThatAreRead: the process next door passes the lock on from its writer to its
// reader, who reads for as long as the turn, or longer.
func TestAWriterFarAwayIsStarvedByTurnsThatAreRead(t *testing.T) {
	for _, way := range []time.Duration{0, time.Millisecond, 5 * time.Millisecond, 20 * time.Millisecond} {
		for _, reads := range []time.Duration{time.Millisecond, 5 * time.Millisecond, 15 * time.Millisecond} {
			t.Run(fmt.Sprintf("%s, read for %s", way, reads), func(t *testing.T) {
				virtual(t, func(t *testing.T) {
					store := memlock.NewStore(nil)
					near := open(t, newDistant(store, nextDoor), nil).RWMutex("a", nil)
					far := open(t, newDistant(store, nextDoor+way), nil).RWMutex("a", nil)
					had := takeTurns(t, 30*time.Second, []turns{
						{near.Lock, 2 * time.Millisecond}, {far.Lock, 2 * time.Millisecond}, {near.RLock, reads},
					})
					wantShares(t, had[:2])
				})
			})
		}
	}
}

func TestALeaseIsRenewedBeforeHalfOfItHasPassed(t *testing.T) {
	for _, ttl := range []time.Duration{lock.MinTTL, time.Second, 30 * time.Second, lock.MaxTTL} {
		virtual(t, func(t *testing.T) {
			backend := newFaulty(nil)
			locks := open(t, backend, &lock.Options{TTL: ttl})
			last := time.Now()
			backend.set(hooks{renew: func(ctx context.Context, grants []driver.Grant) []error {
				wantBetween(t, "the next renewal", time.Since(last), ttl*4/10, ttl/2+2*time.Millisecond)
				last = time.Now()
				return backend.Backend.Renew(ctx, grants)
			}})
			lease := mustLock(t, locks.Mutex("a", nil))
			time.Sleep(20 * ttl)
			wantEqual(t, "state", lease.State(), lock.Held)
			if n := backend.renewals.Load(); n < 39 || n > 50 {
				t.Errorf("%d renewals in 20 × %s", n, ttl)
			}
			mustUnlock(t, lease)
		})
	}
}

// The promise that everything else rests on: the holder is told before anybody
// else can have the lock, whatever the TTL, and whether the backend fails at
// once or hangs, before or after some renewals.
func TestTheHolderIsToldBeforeAnybodyElseCanHaveTheLock(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ttl := time.Duration(rapid.Int64Range(int64(lock.MinTTL), int64(lock.MaxTTL)).Draw(rt, "ttl"))
		if rapid.Bool().Draw(rt, "short") {
			ttl = lock.MinTTL + ttl%time.Second
		}
		healthy := time.Duration(rapid.Float64Range(0, 3).Draw(rt, "healthy for TTLs") * float64(ttl))
		frozen := rapid.Bool().Draw(rt, "frozen")
		late := time.Duration(rapid.Float64Range(0, 0.3).Draw(rt, "reply late by TTLs") * float64(ttl))
		virtual(t, func(t *testing.T) { toldInTime(t, ttl, healthy, late, frozen) })
	})
}

func toldInTime(t *testing.T, ttl, healthy, late time.Duration, frozen bool) {
	t.Helper()
	store := memlock.NewStore(nil)
	backend := newFaulty(store)
	locks, other := open(t, backend, &lock.Options{TTL: ttl}), open(t, memlock.NewBackend(store), nil)
	backend.set(hooks{acquire: slowly(backend, late), renew: slowRenewals(backend, late)})
	lease := mustLock(t, locks.Mutex("a", nil))
	told := make(chan time.Time, 1)
	context.AfterFunc(lease.Context(), func() { told <- time.Now() })
	waiting := lockLater(t, t.Context(), other.Mutex("a", nil))
	time.Sleep(healthy)
	if late <= ttl/10 && lease.State() == lock.Lost { // slower answers may cost it
		t.Errorf("lost while the backend was well, TTL %s", ttl)
	}
	if frozen {
		backend.freeze()
	} else {
		backend.fail(errDown)
	}
	next := granted(t, waiting)
	again := time.Now()
	select {
	case at := <-told:
		if !at.Before(again) {
			t.Errorf("TTL %s: told at %s, granted again at %s", ttl, at, again)
		}
	default:
		t.Errorf("TTL %s: granted again and not told", ttl)
	}
	if next.Token() <= lease.Token() {
		t.Errorf("token %d after %d", next.Token(), lease.Token())
	}
	mustUnlock(t, next)
	wantErr(t, lease.Unlock(t.Context()), lock.ErrLost)
	backend.heal()
}
