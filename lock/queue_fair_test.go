package lock_test

import (
	"context"
	"slices"
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

// turnTeller is a backend that tells of turns, and grants nothing unasked.
type turnTeller struct {
	driver.Backend

	driver.TurnWaiter
}

// tellerOfNothing is a backend that tells of nothing at all.
type tellerOfNothing struct{ driver.Backend }

// TestATurnIsHeardOfByOneWhoAlwaysAsks: not only when it asks again for its place, seconds later.
func TestATurnIsHeardOfByOneWhoAlwaysAsks(t *testing.T) {
	for late, only := range map[time.Duration]func(driver.Backend) driver.Backend{
		10 * time.Millisecond: func(b driver.Backend) driver.Backend {
			return turnTeller{b, b.(driver.TurnWaiter)} //nolint:forcetypeassert // memlock's is one
		},
		200 * time.Millisecond: func(b driver.Backend) driver.Backend { return tellerOfNothing{b} },
	} {
		synctest.Test(t, func(t *testing.T) { turnIsHeardOf(t, only, late) })
	}
}

func turnIsHeardOf(t *testing.T, only func(driver.Backend) driver.Backend, late time.Duration) {
	t.Helper()
	store := memlock.NewStore(nil)
	b := memlock.NewBackend(store)
	held, err := b.Acquire(t.Context(), fairRequest("h", time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	c, err := lock.New(only(memlock.NewBackend(store)), nil)
	if err != nil {
		t.Fatal(err)
	}
	const after = 2500 * time.Millisecond
	time.AfterFunc(after, func() {
		if _, err := b.Release(context.Background(), held); err != nil {
			t.Error(err)
		}
	})
	began := time.Now()
	lease, err := c.Mutex("a", &lock.MutexOptions{Fair: true}).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > after+late {
		t.Errorf("the lock was had %s after its release", took-after)
	}
	if err := lease.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
	stopped(t, c)
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

// quiet is a backend that tells the first who waits to listen for its turn, and the others that they are granted it.
type quiet struct {
	*bedrocktest.Backend
	asked int
}

// Stand implements [driver.Successor].
func (q *quiet) Stand(ctx context.Context, req driver.Request) (driver.Grant, error) {
	if q.asked++; q.asked == 1 {
		return q.Acquire(ctx, req)
	}
	return q.Backend.Stand(ctx, req)
}

// TestWhoNeedNotListenAnyMoreAsksInALoop: it has begun to listen, and then is told that it need not.
func TestWhoNeedNotListenAnyMoreAsksInALoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, link, held := fairClient(t, time.Minute)
		store := &quiet{Backend: link}
		c, err := lock.New(store, nil)
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(20*time.Second, func() {
			if _, err := link.Release(t.Context(), held); err != nil {
				t.Error(err)
			}
		})
		lease, err := c.Mutex("a", &lock.MutexOptions{Fair: true}).Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if store.asked > 15 {
			t.Errorf("asked %d times in 20 s", store.asked)
		}
		if err := lease.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		stopped(t, c)
	})
}

// TestShortLeasesLoseTheirPlaces: who has to ask keeps its place for no longer than its lease would live, and asks
// again before.
func TestShortLeasesLoseTheirPlaces(t *testing.T) {
	for _, ttl := range []time.Duration{10 * time.Millisecond, 100 * time.Millisecond, time.Second} {
		for name, opts := range map[string]lock.MutexOptions{
			"granted": {}, "fixed": {Fixed: true}, "held on": {MinHold: ttl},
		} {
			synctest.Test(t, func(t *testing.T) {
				c, link, held := fairClient(t, time.Minute)
				opts.Fair, opts.TTL = true, ttl
				order, done := []int{}, make(chan struct{})
				for i := range 6 {
					go func() {
						defer func() { done <- struct{}{} }()
						lease, err := c.Mutex("a", &opts).Lock(t.Context())
						if err != nil {
							t.Error(err)
							return
						}
						order = append(order, i)
						if err := lease.Unlock(t.Context()); err != nil {
							t.Error(err)
						}
					}()
					time.Sleep(7 * time.Millisecond)
				}
				time.Sleep(3017 * time.Millisecond)
				if _, err := link.Release(t.Context(), held); err != nil {
					t.Error(err)
				}
				for range 6 {
					<-done
				}
				if !slices.IsSorted(order) {
					t.Errorf("%s for %s: served in the order %v", name, ttl, order)
				}
				stopped(t, c)
			})
		}
	}
}

// TestAFairTryIsRefusedForWhatLingers: nobody has the lock, but a grant of this client that has stayed.
func TestAFairTryIsRefusedForWhatLingers(t *testing.T) {
	inHousehold(t, nil, func(t *testing.T, h *household) {
		lease, err := h.locks.Mutex("a", &lock.MutexOptions{Fair: true}).TryLock(t.Context())
		if err == nil {
			err = lease.Unlock(t.Context())
		}
		if err != nil {
			t.Error(err)
		}
	})
}
