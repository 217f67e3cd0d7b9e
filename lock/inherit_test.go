package lock_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// courier is a client's way to a store, on which messages of grants can be lost, doubled or late.
type courier struct {
	*faulty
	mu   sync.Mutex
	tell func(driver.Grant)
	told []driver.Grant
	way  func(g driver.Grant) // what becomes of a message instead; nil to deliver it
}

func newCourier(store *memlock.Store) *courier { return &courier{faulty: newFaulty(store)} }

// Inherit implements [driver.Successor].
func (c *courier) Inherit(tell func(driver.Grant)) {
	c.tell = tell
	c.Backend.Inherit(func(g driver.Grant) {
		c.mu.Lock()
		c.told = append(c.told, g)
		way := c.way
		c.mu.Unlock()
		if way == nil {
			way = tell
		}
		way(g)
	})
}

// Notify implements [driver.Notifier]. Nothing else than grants is told.
func (c *courier) Notify(func(driver.Message)) {}

// divert says what becomes of messages from now on.
func (c *courier) divert(way func(driver.Grant)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.way = way
}

// last returns the last message there was.
func (c *courier) last(t *testing.T) driver.Grant {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.told) == 0 {
		t.Fatal("nothing was passed on")
	}
	return c.told[len(c.told)-1]
}

// relay is a lock "a" in the hands of one client, and another that stands in line for it.
type relay struct {
	store  *memlock.Store
	first  *lock.Client
	lease  *lock.Lease
	link   *courier
	second *lock.Client
}

func newRelay(t *testing.T, opts *lock.Options) *relay {
	t.Helper()
	r := &relay{store: memlock.NewStore(nil)}
	r.first = open(t, memlock.NewBackend(r.store), opts)
	r.link = newCourier(r.store)
	r.second = open(t, r.link, opts)
	r.lease = mustLock(t, r.first.Mutex("a", nil))
	return r
}

// TestGrantIsPassedOn: the next one has the lock with no request of its own, at once.
func TestGrantIsPassedOn(t *testing.T) {
	virtual(t, func(t *testing.T) {
		r := newRelay(t, nil)
		next := lockLater(t, t.Context(), r.second.Mutex("a", nil))
		time.Sleep(time.Second)
		asked := r.link.acquires.Load()
		mustUnlock(t, r.lease)
		synctest.Wait()
		got := <-next
		wantEqual(t, "wait", got.after, time.Second)
		wantEqual(t, "requests", r.link.acquires.Load(), asked)
		if got.lease.Token() <= r.lease.Token() {
			t.Errorf("token %d after %d", got.lease.Token(), r.lease.Token())
		}
		time.Sleep(time.Minute) // it is renewed
		if err := got.lease.Err(); err != nil {
			t.Error(err)
		}
		mustUnlock(t, got.lease)
	})
}

// TestGrantIsToldTwice: what is told again neither frees a lock that is held nor gives it to the next.
func TestGrantIsToldTwice(t *testing.T) {
	virtual(t, func(t *testing.T) {
		r := newRelay(t, nil)
		next := lockLater(t, t.Context(), r.second.Mutex("a", nil))
		mustUnlock(t, r.lease)
		lease := granted(t, next)
		message := r.link.last(t)
		r.link.tell(message)
		synctest.Wait()
		if _, err := r.first.Mutex("a", nil).TryLock(t.Context()); lease.Err() != nil || err == nil {
			t.Fatalf("told again while it is held: the lease %v, another %v", lease.Err(), err)
		}
		mustUnlock(t, lease)
		lease = mustLock(t, r.first.Mutex("a", nil))
		again := lockLater(t, t.Context(), r.second.Mutex("a", nil))
		r.link.tell(message)
		time.Sleep(time.Second)
		select {
		case <-again:
			t.Fatal("an old message has given it away")
		default:
		}
		mustUnlock(t, lease)
		mustUnlock(t, granted(t, again))
	})
}

// TestGrantNobodyWants: it is given back at once: the waiter has given up just before, or the request is
// nobody's here.
func TestGrantNobodyWants(t *testing.T) {
	virtual(t, func(t *testing.T) {
		r := newRelay(t, nil)
		r.link.divert(func(g driver.Grant) { time.AfterFunc(10*time.Millisecond, func() { r.link.tell(g) }) })
		ctx, cancel := context.WithTimeout(t.Context(), time.Second+5*time.Millisecond)
		defer cancel()
		next := lockLater(t, ctx, r.second.Mutex("a", nil))
		time.Sleep(time.Second)
		mustUnlock(t, r.lease)
		wantErr(t, (<-next).err, context.DeadlineExceeded)
		synctest.Wait()
		mustUnlock(t, mustTryLock(t, r.first.Mutex("a", nil)))

		stray := driver.Request{Name: "a", Owner: "x:7", TTL: time.Hour, Tokens: 1}
		if _, err := memlock.NewBackend(r.store).Acquire(t.Context(), stray); err != nil {
			t.Fatal(err)
		}
		r.link.tell(driver.Grant{Name: "a", Owner: stray.Owner})
		synctest.Wait()
		mustUnlock(t, mustTryLock(t, r.first.Mutex("a", nil)))
	})
}

func mustTryLock(t *testing.T, m lock.Lockable) *lock.Lease {
	t.Helper()
	lease, err := m.TryLock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

// TestMessageOfAGrantIsLost: the waiter asks again in time, or at once when it hears that something was
// missed.
func TestMessageOfAGrantIsLost(t *testing.T) {
	for name, missed := range map[string]bool{"unheard": false, "missed": true} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				r := newRelay(t, nil)
				r.link.divert(func(driver.Grant) {})
				next := lockLater(t, t.Context(), r.second.Mutex("a", nil))
				time.Sleep(time.Second)
				mustUnlock(t, r.lease)
				most := 2100 * time.Millisecond
				if missed {
					r.link.tell(driver.Grant{Name: "a"})
					most = time.Second
				}
				got := <-next
				wantBetween(t, "Lock", got.after, time.Second, most)
				mustUnlock(t, got.lease)
			})
		})
	}
}

// TestPassedOnLockOutlivesItsClaim: the process cannot renew it, and knows that it has lost it before the
// store gives it to somebody else.
func TestPassedOnLockOutlivesItsClaim(t *testing.T) {
	for _, at := range []time.Duration{0, time.Second, 1900 * time.Millisecond} {
		virtual(t, func(t *testing.T) {
			r := newRelay(t, nil)
			next := lockLater(t, t.Context(), r.second.Mutex("a", nil))
			time.Sleep(at)
			mustUnlock(t, r.lease)
			lease := granted(t, next)
			r.link.freeze()
			<-lease.Context().Done()
			if _, err := r.first.Mutex("a", nil).TryLock(t.Context()); err == nil {
				t.Error("somebody else has it by now")
			}
			start := time.Now()
			wantErr(t, lease.Err(), lock.ErrLost)
			mustUnlock(t, mustLock(t, r.first.Mutex("a", nil)))
			wantBetween(t, "the rest of its life", time.Since(start), time.Millisecond, 200*time.Millisecond)
			r.link.heal()
		})
	}
}

// TestFrozenHeirsBlockOneAfterTheOther: processes that stand in line are frozen, and hold the lock up for as
// long as one would.
func TestFrozenHeirsBlockOneAfterTheOther(t *testing.T) {
	virtual(t, func(t *testing.T) {
		patient := &lock.Options{Patience: time.Hour}
		r := newRelay(t, patient)
		var frozen []<-chan outcome
		links := []*courier{r.link}
		frozen = append(frozen, lockLater(t, t.Context(), r.second.Mutex("a", nil)))
		for range 5 {
			link := newCourier(r.store)
			links = append(links, link)
			frozen = append(frozen, lockLater(t, t.Context(), open(t, link, patient).Mutex("a", nil)))
		}
		for _, link := range links {
			link.divert(func(driver.Grant) {})
			link.freeze()
		}
		last := lockLater(t, t.Context(), open(t, memlock.NewBackend(r.store), nil).Mutex("a", nil))
		mustUnlock(t, r.lease)
		got := <-last
		wantBetween(t, "Lock", got.after, 0, 7*time.Second+10*time.Millisecond)
		mustUnlock(t, got.lease)
		for i, link := range links {
			link.heal()
			mustUnlock(t, granted(t, frozen[i]))
		}
	})
}

// TestPlaceInLineIsTheFrontsOwn: who is at the front leaves, and the next one of its process keeps the place.
func TestPlaceInLineIsTheFrontsOwn(t *testing.T) {
	virtual(t, func(t *testing.T) {
		r := newRelay(t, nil)
		ctx, cancel := context.WithCancel(t.Context())
		front := lockLater(t, ctx, r.second.Mutex("a", nil))
		next := lockLater(t, t.Context(), r.second.Mutex("a", nil))
		third := lockLater(t, t.Context(), open(t, memlock.NewBackend(r.store), nil).Mutex("a", nil))
		cancel()
		wantErr(t, (<-front).err, context.Canceled)
		synctest.Wait()
		mustUnlock(t, r.lease)
		synctest.Wait()
		select {
		case got := <-next:
			mustUnlock(t, got.lease)
		default:
			t.Error("it has lost its place")
		}
		mustUnlock(t, granted(t, third))
	})
}

// TestMessageOfAnEarlierGrant: what it tells of was taken away by force, and somebody else has the lock.
func TestMessageOfAnEarlierGrant(t *testing.T) {
	virtual(t, func(t *testing.T) {
		r := newRelay(t, nil)
		r.link.divert(func(driver.Grant) {})
		next := lockLater(t, t.Context(), r.second.Mutex("a", nil))
		mustUnlock(t, r.lease)
		message := r.link.last(t)
		taken := make(chan struct{})
		r.link.set(hooks{acquire: func(ctx context.Context, req driver.Request) (driver.Grant, error) {
			<-taken
			return r.link.Backend.Stand(ctx, req)
		}})
		if held, err := r.first.ForceRelease(t.Context(), "a"); !held || err != nil {
			t.Fatal(held, err)
		}
		lease := mustTryLock(t, r.first.Mutex("a", nil)) // before the one that stood has asked again
		close(taken)
		synctest.Wait()
		r.link.tell(message)
		synctest.Wait()
		select {
		case got := <-next:
			t.Fatalf("it has the lock with token %d beside token %d", got.lease.Token(), lease.Token())
		default:
		}
		r.link.divert(nil)
		mustUnlock(t, lease)
		mustUnlock(t, granted(t, next))
	})
}

// TestClaimHasRunOut: who stood for it, and saw no end, does not get it.
func TestClaimHasRunOut(t *testing.T) {
	virtual(t, func(t *testing.T) {
		r := newRelay(t, nil)
		next := lockLater(t, t.Context(), r.second.Mutex("a", nil))
		time.Sleep(20 * time.Second)
		asked := r.link.acquires.Load()
		time.Sleep(5 * time.Second)
		wantEqual(t, "requests while the lock is held for long", r.link.acquires.Load(), asked)
		mustUnlock(t, r.lease)
		lease := granted(t, next)
		r.link.mu.Lock()
		wantEqual(t, "grants passed on", len(r.link.told), 0)
		r.link.mu.Unlock()
		mustUnlock(t, lease)
	})
}

// TestStoppedClientStandsOn: its request is refused while it is stopped, and it stands no more.
func TestStoppedClientStandsOn(t *testing.T) {
	virtual(t, func(t *testing.T) {
		r := newRelay(t, nil)
		r.link.set(hooks{acquire: func(ctx context.Context, req driver.Request) (driver.Grant, error) {
			grant, err := r.link.Backend.Stand(ctx, req)
			time.Sleep(time.Second)
			return grant, err
		}})
		next := lockLater(t, t.Context(), r.second.Mutex("a", nil))
		stopped := make(chan error, 1)
		go func() { stopped <- r.second.Stop(t.Context()) }()
		wantErr(t, (<-next).err, lock.ErrClosed)
		if err := <-stopped; err != nil {
			t.Error(err)
		}
		mustUnlock(t, r.lease)
		mustUnlock(t, mustTryLock(t, r.first.Mutex("a", nil)))
	})
}
