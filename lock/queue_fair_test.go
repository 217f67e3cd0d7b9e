package lock_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// fairRequest is one of a store past the front.
func fairRequest(owner string, ttl time.Duration) driver.Request {
	return driver.Request{Name: "a", Owner: owner, Fair: true, Waits: true, TTL: ttl, Tokens: 1}
}

// fairClient is a client of a store in which a fair lock is held for so long, and how it reaches it.
func fairClient(t *testing.T, ttl time.Duration) (c *lock.Client, link *bedrocktest.Backend, held driver.Grant) {
	t.Helper()
	store := memlock.NewStore(nil)
	held, err := memlock.NewBackend(store).Acquire(t.Context(), fairRequest("h", ttl))
	if err != nil {
		t.Fatal(err)
	}
	link = bedrocktest.NewBackend(memlock.NewBackend(store))
	if c, err = lock.New(link, nil); err != nil {
		t.Fatal(err)
	}
	return c, link, held
}

// TestWhoIsNextSleepsPastADeadHolder: it is told how long the holder lives, and asks then, not when it has to ask
// for its place.
func TestWhoIsNextSleepsPastADeadHolder(t *testing.T) {
	for _, fixed := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c, _, _ := fairClient(t, 7*time.Second)
			began := time.Now()
			time.Sleep(500 * time.Millisecond)
			lease, err := c.Mutex("a", &lock.MutexOptions{Fair: true, Fixed: fixed}).Lock(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); took < 7*time.Second || took > 7*time.Second+10*time.Millisecond {
				t.Errorf("fixed %v: the lock was had after %s", fixed, took)
			}
			if err := lease.Unlock(t.Context()); err != nil {
				t.Error(err)
			}
			stopped(t, c)
		})
	}
}

// TestATurnIsHeardOfAtOnce, by who is granted the lock unasked and by who has to ask, and not only when it asks
// again for its place.
func TestATurnIsHeardOfAtOnce(t *testing.T) {
	for _, fixed := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c, link, held := fairClient(t, time.Minute)
			done := make(chan time.Time)
			go func() {
				defer close(done)
				lease, err := c.Mutex("a", &lock.MutexOptions{Fair: true, Fixed: fixed}).Lock(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				done <- time.Now()
				if err := lease.Unlock(t.Context()); err != nil {
					t.Error(err)
				}
			}()
			time.Sleep(time.Second)
			released := time.Now()
			asked := link.Calls(bedrocktest.Acquire)
			if _, err := link.Release(t.Context(), held); err != nil {
				t.Fatal(err)
			}
			if took := (<-done).Sub(released); took > time.Millisecond {
				t.Errorf("fixed %v: the lock was had %s after its release", fixed, took)
			}
			<-done
			if n := link.Calls(bedrocktest.Acquire) - asked; !fixed && n > 0 {
				t.Errorf("who was granted the lock has asked for it %d times", n)
			}
			stopped(t, c)
		})
	}
}

// TestAFairLeaseOutlivesItsClaim: what was granted unasked lives for 5 s at first, from when it was asked for, and
// is renewed before.
func TestAFairLeaseOutlivesItsClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, link, held := fairClient(t, time.Minute)
		time.AfterFunc(1900*time.Millisecond, func() {
			if _, err := link.Release(t.Context(), held); err != nil {
				t.Error(err)
			}
		})
		lease, err := c.Mutex("a", &lock.MutexOptions{Fair: true, TTL: 20 * time.Second}).Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if err := lease.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		stopped(t, c)
	})
}

// stopped stops a client.
func stopped(t *testing.T, c *lock.Client) {
	t.Helper()
	if err := c.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}
