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

// atOnce is longer than anything takes that is not waited for.
const atOnce = 20 * time.Millisecond

// TestFrozenHeirBlocksForItsClaim: whatever the lease, and whenever those before it in line have asked last before they
// were frozen: the next one has the lock within a claim and the time until it asks again.
func TestFrozenHeirBlocksForItsClaim(t *testing.T) {
	for _, ttl := range []time.Duration{time.Second, 2 * time.Second, 5 * time.Second, time.Minute} {
		t.Run(ttl.String(), func(t *testing.T) {
			claim := min(ttl, 5*time.Second)
			passed := 0
			for waited := time.Duration(0); waited <= 3*claim; waited += 3 * claim / 10 {
				for since := time.Duration(0); since <= claim; since += claim / 4 {
					virtual(t, func(t *testing.T) {
						blocked, told := blockedByFrozen(t, ttl, waited, since)
						wantBetween(t, "the next one", blocked, 0, claim+2*claim/5+atOnce)
						passed += told
					})
				}
			}
			if passed == 0 {
				t.Error("nothing was passed on to who was frozen")
			}
		})
	}
}

// blockedByFrozen has two clients stand in line that are frozen after some time, and a third one behind them. It
// returns how long after a release that one has the lock, and how many of the others were granted it.
func blockedByFrozen(t *testing.T, ttl, waited, since time.Duration) (blocked time.Duration, told int) {
	t.Helper()
	opts := &lock.Options{TTL: ttl, Patience: time.Hour}
	r := newRelay(t, opts)
	other := newCourier(r.store)
	links := []*courier{r.link, other}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	frozen := []<-chan outcome{lockLater(t, ctx, r.second.Mutex("a", nil))}
	time.Sleep(waited / 3)
	frozen = append(frozen, lockLater(t, ctx, open(t, other, opts).Mutex("a", nil)))
	time.Sleep(waited - waited/3)
	last := lockLater(t, t.Context(), open(t, memlock.NewBackend(r.store), opts).Mutex("a", nil))
	for _, link := range links {
		link.divert(func(driver.Grant) {})
		link.freeze()
	}
	time.Sleep(since)
	released := time.Now()
	mustUnlock(t, r.lease)
	lease := granted(t, last)
	blocked = time.Since(released)
	for _, link := range links {
		link.mu.Lock()
		told += len(link.told)
		link.mu.Unlock()
		link.divert(nil)
		link.heal()
	}
	mustUnlock(t, lease)
	cancel() // a request that is frozen goes on for as long as its patience
	for _, next := range frozen {
		if got := <-next; got.lease != nil {
			mustUnlock(t, got.lease)
		}
	}
	return blocked, told
}

// TestLineBesideOtherKinds: what is left of a least time, a fixed lease, and a lock that is entered several times are
// kept from who stands in line; who stands in none is not left out.
func TestLineBesideOtherKinds(t *testing.T) {
	const keeps = 3 * time.Second
	stand := func(t *testing.T, r *relay) <-chan outcome {
		t.Helper()
		return lockLater(t, t.Context(), r.second.Mutex("a", nil))
	}
	for name, test := range map[string]func(t *testing.T, r *relay){
		"least time": func(t *testing.T, r *relay) {
			kept := mustLock(t, r.first.Mutex("a", &lock.MutexOptions{MinHold: keeps}))
			next := stand(t, r)
			mustUnlock(t, kept)
			got := <-next
			wantBetween(t, "Lock", got.after, keeps, keeps+atOnce)
			mustUnlock(t, got.lease)
		},
		"fixed, and kept": func(t *testing.T, r *relay) {
			kept := mustLock(t, r.first.Mutex("a", &lock.MutexOptions{TTL: keeps, Fixed: true}))
			next := stand(t, r)
			got := <-next
			wantErr(t, kept.Err(), lock.ErrLost) // a little before its end
			wantBetween(t, "Lock", got.after, keeps-keeps/20, keeps+atOnce)
			mustUnlock(t, got.lease)
		},
		"fixed, and released": func(t *testing.T, r *relay) {
			kept := mustLock(t, r.first.Mutex("a", &lock.MutexOptions{TTL: keeps, Fixed: true}))
			next := stand(t, r)
			mustUnlock(t, kept)
			mustUnlock(t, granted(t, next))
			r.link.last(t) // it was passed on
		},
		"entered twice": func(t *testing.T, r *relay) {
			outer := mustLock(t, r.first.Mutex("a", nil))
			next := stand(t, r)
			mustUnlock(t, mustLockIn(t, outer.Context(), r.first.Mutex("a", nil)))
			time.Sleep(time.Second)
			select {
			case <-next:
				t.Fatal("it is granted while the outer lease is there")
			default:
			}
			inner := mustLockIn(t, outer.Context(), r.first.Mutex("a", nil))
			mustUnlock(t, inner)
			mustUnlock(t, outer)
			got := <-next
			wantBetween(t, "Lock", got.after, time.Second, time.Second+atOnce)
			mustUnlock(t, got.lease)
		},
		"entered after it was passed on": func(t *testing.T, r *relay) {
			first := mustLock(t, r.first.Mutex("a", nil))
			next := stand(t, r)
			mustUnlock(t, first)
			outer := granted(t, next)
			inner := mustLockIn(t, outer.Context(), r.second.Mutex("a", nil))
			time.Sleep(time.Minute) // it is renewed
			again := lockLater(t, t.Context(), r.first.Mutex("a", nil))
			mustUnlock(t, outer)
			time.Sleep(time.Minute)
			if len(again) > 0 || inner.Err() != nil {
				t.Errorf("granted: %d, the inner lease: %v", len(again), inner.Err())
			}
			mustUnlock(t, inner)
			mustUnlock(t, granted(t, again))
		},
		"who stands in no line": func(t *testing.T, r *relay) {
			first := mustLock(t, r.first.Mutex("a", nil))
			third := open(t, memlock.NewBackend(r.store), nil)
			least := lockLater(t, t.Context(), third.Mutex("a", &lock.MutexOptions{MinHold: keeps}))
			next := stand(t, r)
			mustUnlock(t, first)
			mustUnlock(t, granted(t, next))
			got := <-least
			wantBetween(t, "Lock", got.after, 0, atOnce)
			mustUnlock(t, got.lease)
		},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				r := newRelay(t, nil)
				mustUnlock(t, r.lease)
				test(t, r)
			})
		})
	}
}

// TestForceEndsALine: those who stood have the lock at once, one after the other, and its holder hears that it is lost.
func TestForceEndsALine(t *testing.T) {
	virtual(t, func(t *testing.T) {
		r := newRelay(t, nil)
		third := open(t, memlock.NewBackend(r.store), nil)
		nexts := []<-chan outcome{
			lockLater(t, t.Context(), r.second.Mutex("a", nil)), lockLater(t, t.Context(), third.Mutex("a", nil)),
		}
		time.Sleep(time.Second)
		if freed, err := third.ForceRelease(t.Context(), "a"); err != nil || !freed {
			t.Fatal(freed, err)
		}
		last, start := r.lease.Token(), time.Now()
		for range nexts {
			synctest.Wait()
			var got outcome
			select {
			case got = <-nexts[0]:
			case got = <-nexts[1]:
			}
			if got.err != nil || got.lease.Token() <= last {
				t.Fatalf("token %d after %d, %v", got.lease.Token(), last, got.err)
			}
			last = got.lease.Token()
			mustUnlock(t, got.lease)
		}
		wantBetween(t, "both", time.Since(start), 0, atOnce)
		<-r.lease.Context().Done()
		wantErr(t, r.lease.Err(), lock.ErrLost)
	})
}
