package locktest

import (
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// expiry: leases end in time, not before, and their holders know it first.
func expiry() []behaviour {
	return []behaviour{
		{name: "ExpiredLeaseBlocksOthers", run: expiredLeaseBlocksOthers},
		{name: "LastMomentLooksEndless", run: lastMomentLooksEndless},
		{name: "LeaseEndsEarly", run: leaseEndsEarly},
		{name: "LossComesAfterTheNextGrant", run: lossComesAfterTheNextGrant},
		{name: "LossLeavesNoMargin", run: lossLeavesNoMargin},
		{name: "SlowRenewalDelaysTheLoss", run: slowRenewalDelaysTheLoss},
		{name: "FixedLeaseIsRenewed", run: fixedLeaseIsRenewed},
		{name: "MinHoldEndsEarly", run: minHoldEndsEarly},
		{name: "MinHoldEndsUnnoticed", run: minHoldEndsUnnoticed},
		{name: "LateGrantIsUsed", run: lateGrantIsUsed},
	}
}

// expiredLeaseBlocksOthers lets a holder die: nothing renews what is taken past
// the front.
func expiredLeaseBlocksOthers(e *env) {
	a, b, name := e.store(), e.client(nil), e.name("a")
	start := time.Now()
	e.grant(a, e.request(name, e.ttl))
	lease, err := b.Mutex(name, nil).Lock(e.within(e.ttl + soon))
	if err != nil {
		e.Fatalf("take over: %v", err)
	}
	e.took("the take-over", start, e.ttl+e.ttl/2+promptly)
	e.unlock(lease)
}

// lastMomentLooksEndless asks for a lock until its time is over. Whoever is refused a
// moment before, and is not told so, sleeps: nobody tells of a lock that has run out.
func lastMomentLooksEndless(e *env) {
	a, b, name := e.store(), e.store(), e.name("a")
	for range 3 {
		e.grant(a, e.request(name, e.ttl/5))
		for {
			g, err := b.Acquire(e.within(soon), e.request(name, e.ttl))
			if err == nil {
				e.release(b, g)
				break
			}
			if refusal, ok := errors.AsType[*driver.HeldError](err); !ok || refusal.TTL <= 0 {
				e.Fatalf("%v (%+v), want a refusal that tells how much time is left", err, refusal)
			}
			time.Sleep(50 * time.Microsecond)
		}
	}
}

func leaseEndsEarly(e *env) {
	a, b, name := e.store(), e.client(nil), e.name("a")
	asked := time.Now()
	e.grant(a, e.request(name, e.ttl))
	lease, err := b.Mutex(name, nil).Lock(e.within(e.ttl + soon))
	if err != nil {
		e.Fatalf("take over: %v", err)
	}
	// The store began to count after it was asked, by a clock in whole milliseconds.
	if lasted := time.Since(asked); lasted < e.ttl-2*time.Millisecond {
		e.Errorf("the lease was taken over after %s of %s", lasted, e.ttl)
	}
	e.unlock(lease)
}

// lossComesAfterTheNextGrant cuts a holder off from the store while somebody
// waits. At the moment the waiter has the lock, the holder must know.
func lossComesAfterTheNextGrant(e *env) {
	a, link := e.faultyClient(&lock.Options{TTL: e.ttl})
	b, name := e.client(nil), e.name("a")
	link.Fail(Acquire, Fault{Linger: e.ttl / 10}) // the lease is shorter than its holder may think
	lease := e.lock(a, name, nil)
	link.Freeze()
	next := e.wait(e.within(2*e.ttl+soon), b.Mutex(name, nil))
	e.over(next, 2*e.ttl+soon)
	if lease.Context().Err() == nil {
		e.Error("the lock was granted to another while the holder's context went on")
	}
	e.unlock(e.served(next, promptly))
	e.ends(lease, promptly)
	link.Thaw()
	e.lost(lease.Unlock(e.within(soon)))
}

// lossLeavesNoMargin asks the store at the moment the holder's context ends: the
// lock must still be the holder's. In real time this goroutine may be late
// itself, so it gets some tries.
func lossLeavesNoMargin(e *env) {
	a, link := e.faultyClient(&lock.Options{TTL: e.ttl})
	b := e.store()
	for try := range 5 {
		lease := e.lock(a, e.name(numbered(try)), nil)
		link.Freeze()
		<-lease.Context().Done()
		_, err := b.Acquire(e.within(soon), e.request(lease.Name(), e.ttl))
		link.Thaw()
		if errors.Is(err, driver.ErrHeld) {
			return
		}
	}
	e.Error("when the holder's context ended, the store had given the lock up already")
}

// slowRenewalDelaysTheLoss cuts a holder off after a renewal whose reply took its
// time.
func slowRenewalDelaysTheLoss(e *env) {
	a, link := e.faultyClient(&lock.Options{TTL: e.ttl})
	b, name := e.client(nil), e.name("a")
	link.Fail(Renew, Fault{Linger: e.ttl / 10})
	lease := e.lock(a, name, nil)
	e.eventually("a renewal", func() bool { return link.Answered(Renew) > 0 })
	link.Freeze()
	next := e.wait(e.within(2*e.ttl+soon), b.Mutex(name, nil))
	e.over(next, 2*e.ttl+soon)
	if lease.Context().Err() == nil {
		e.Error("the lock was granted to another while the holder's context went on")
	}
	e.unlock(e.served(next, promptly))
	e.ends(lease, promptly)
}

func fixedLeaseIsRenewed(e *env) {
	a, b, name := e.client(nil), e.client(nil), e.name("a")
	start := time.Now()
	lease := e.lock(a, name, &lock.MutexOptions{TTL: e.ttl, Fixed: true})
	e.refused(b, name)
	e.becomesFree(b, name, e.ttl+promptly+soon)
	e.took("a fixed lease", start, e.ttl+e.ttl/2+promptly)
	e.ends(lease, promptly)
	e.lost(lease.Unlock(e.within(soon)))
}

func minHoldEndsEarly(e *env) {
	a, b, name := e.client(&lock.Options{TTL: e.long}), e.client(nil), e.name("a")
	lease := e.lock(a, name, &lock.MutexOptions{MinHold: e.ttl})
	start := time.Now()
	e.unlock(lease)
	if !errors.Is(lease.Err(), lock.ErrReleased) {
		e.Errorf("want ErrReleased, got %v", lease.Err())
	}
	for time.Since(start) < e.ttl/2 {
		e.refused(a, name)
		e.refused(b, name)
		time.Sleep(e.ttl / 20)
	}
	e.becomesFree(b, name, e.ttl+soon)
	if lasted := time.Since(start); lasted < e.ttl-promptly/2 {
		e.Errorf("the minimum hold time of %s ended after %s", e.ttl, lasted)
	}
	e.took("the minimum hold time", start, e.ttl+e.ttl/2+promptly)
}

// minHoldEndsUnnoticed has another client wait that was told the life of the whole
// lease, an hour, before the unlock cut it down to the minimum.
func minHoldEndsUnnoticed(e *env) {
	a, b, name := e.client(&lock.Options{TTL: time.Hour}), e.client(&lock.Options{TTL: time.Hour}), e.name("a")
	start := time.Now()
	lease := e.lock(a, name, &lock.MutexOptions{MinHold: 2 * e.ttl})
	next := e.wait(e.within(cleanUp+4*e.ttl), b.Mutex(name, nil))
	time.Sleep(e.ttl / 2) // it has been refused, and sleeps
	e.unlock(lease)
	taken := e.served(next, 2*e.ttl+soon)
	if d := time.Since(start); d < 2*e.ttl-time.Millisecond {
		e.Errorf("granted %s after the lock was taken, want %s", d, 2*e.ttl)
	}
	e.unlock(taken)
}

// lateGrantIsUsed delivers a grant when its time is over: whoever takes it for
// its own shares the lock with the next.
func lateGrantIsUsed(e *env) {
	a, link := e.faultyClient(&lock.Options{TTL: e.ttl, Patience: -1})
	b, name := e.client(nil), e.name("a")
	link.Fail(Acquire, Fault{Linger: e.ttl + e.ttl/4})
	lease, err := a.Mutex(name, nil).TryLock(e.within(2*e.ttl + soon))
	if err == nil {
		e.Fatalf("a grant that had run out was given out with token %d", lease.Token())
	}
	if !errors.Is(err, driver.ErrUnavailable) {
		e.Errorf("want ErrUnavailable, got %v", err)
	}
	e.becomesFree(b, name, soon)
}
