package locktest

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// wakeUps: waiters are woken, and those who leave leave nothing.
func wakeUps() []behaviour {
	return []behaviour{
		{name: "TryLockWaits", run: tryLockWaits},
		{name: "DeadlineIsMissed", run: deadlineIsMissed},
		{name: "LongestWaitIsMissed", run: longestWaitIsMissed},
		{name: "WakeUpIsLost", run: wakeUpIsLost},
		{name: "WakeUpComesBeforeTheWatch", run: wakeUpComesBeforeTheWatch, needs: []Capability{Watching}},
		{name: "ReleaseWakesNobody", run: releaseWakesNobody, needs: []Capability{Watching}},
		{name: "CancelledWaiterLeavesALock", run: cancelledWaiterLeavesALock},
		{name: "CancelledWaiterTakesTheTurn", run: cancelledWaiterTakesTheTurn},
	}
}

func tryLockWaits(e *env) {
	a, b, name := e.client(nil), e.client(nil), e.name("a")
	lease := e.lockSoon(a, name, nil)
	limit := e.limit(2 * promptly)
	e.refused(b, name)
	e.refused(a, name)
	limit.check("two TryLocks")
	e.unlock(lease)
}

func deadlineIsMissed(e *env) {
	a, b, name := e.client(nil), e.client(nil), e.name("a")
	lease := e.lockSoon(a, name, nil)
	for _, c := range []*lock.Client{a, b} {
		limit := e.limit(promptly/2 + promptly)
		_, err := c.Mutex(name, nil).Lock(e.contextFor(promptly / 2))
		if !errors.Is(err, context.DeadlineExceeded) {
			e.Errorf("want DeadlineExceeded, got %v", err)
		}
		limit.check("a Lock with a deadline")
	}
	e.unlock(lease)
}

func longestWaitIsMissed(e *env) {
	a, b, name := e.client(nil), e.client(nil), e.name("a")
	lease := e.lockSoon(a, name, nil)
	e.refused(b, name)
	wait := 2 * promptly // a request that is under way by then, on a slow machine, is no refusal
	limit := e.limit(wait + promptly)
	_, err := b.Mutex(name, &lock.MutexOptions{Wait: wait}).Lock(e.Context())
	if !errors.Is(err, lock.ErrHeld) {
		e.Errorf("want ErrHeld, got %v", err)
	}
	limit.check("a Lock with a longest wait")
	e.unlock(lease)
}

// wakeUpIsLost unlocks at all moments of another's way into waiting. With leases
// this long nothing but a wake-up helps in time.
func wakeUpIsLost(e *env) {
	long := &lock.Options{TTL: time.Hour}
	a, b, name := e.client(long), e.client(long), e.name("a")
	for range 30 {
		lease := e.lockSoon(a, name, nil)
		next := e.startWaiting(e.contextFor(cleanUp), b.Mutex(name, nil))
		time.Sleep(rand.N(3 * time.Millisecond))
		e.unlock(lease)
		e.unlock(e.served(next, soon))
	}
}

// wakeUpComesBeforeTheWatch releases the lock between the refusal of a contender
// and the moment it listens.
func wakeUpComesBeforeTheWatch(e *env) {
	a, name := e.client(&lock.Options{TTL: time.Hour}), e.name("a")
	b, link := e.faultyClient(&lock.Options{TTL: time.Hour})
	link.Fail(bedrocktest.Watch, bedrocktest.Fault{Delay: promptly / 2})
	lease := e.lockSoon(a, name, nil)
	next := e.startWaiting(e.contextFor(cleanUp), b.Mutex(name, nil))
	e.eventually("the contender is refused", func() bool { return link.Returned(bedrocktest.Acquire) > 0 })
	e.unlock(lease)
	e.unlock(e.served(next, soon))
}

// releaseWakesNobody looks at the watch itself.
func releaseWakesNobody(e *env) {
	a, b, name := e.store(), e.store(), e.name("a")
	g := e.grant(a, e.request(name, e.long))
	watch, err := b.Watch(e.contextFor(soon), name, driver.Mutex)
	if errors.Is(err, driver.ErrUnsupported) {
		e.Fatal("the backend cannot watch: exempt it and say why")
	}
	if err != nil {
		e.Fatalf("watch: %v", err)
	}
	defer watch.Close()
	e.release(a, g)
	select {
	case <-watch.C():
	case <-e.contextFor(soon).Done():
		e.Fatal("the release woke nobody")
	}
}

func cancelledWaiterLeavesALock(e *env) {
	a, b, c, name := e.client(nil), e.client(nil), e.client(nil), e.name("a")
	lease := e.lockSoon(a, name, nil)
	for range 10 {
		ctx, cancel := context.WithCancel(e.Context())
		w := e.startWaiting(ctx, b.Mutex(name, nil))
		time.Sleep(rand.N(3 * time.Millisecond))
		cancel()
		e.waitOver(w, promptly)
		if !errors.Is(w.err, context.Canceled) {
			e.Fatalf("want Canceled, got %v", w.err)
		}
	}
	e.unlock(lease)
	e.becomesFree(c, name, cleanUp) // a request may arrive after its waiter has gone
}

// cancelledWaiterTakesTheTurn cancels the first waiter at the moment of its turn:
// the one behind it must get the lock. The turn comes by hand-off, or, when the
// budget is spent, as the right to contend.
func cancelledWaiterTakesTheTurn(e *env) {
	for _, budget := range []int{100, -1} {
		a, name := e.client(&lock.Options{TTL: time.Hour, HandOff: lock.HandOff{Count: budget}}), e.name("a")
		for range 20 {
			lease := e.lockSoon(a, name, nil)
			ctx, cancel := context.WithCancel(e.Context())
			first := e.startWaiting(ctx, a.Mutex(name, nil))
			e.queued(a, name, 1)
			second := e.startWaiting(e.contextFor(cleanUp), a.Mutex(name, nil))
			e.queued(a, name, 2)
			cancel() // wakes the first, but its turn may be quicker
			e.unlock(lease)
			e.waitOver(first, soon)
			if first.err == nil {
				e.unlock(first.lease)
			}
			e.unlock(e.served(second, soon))
		}
	}
}
