package locktest

import (
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
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
	limit := e.limit(e.ttl + e.ttl/2 + promptly)
	e.grant(a, e.request(name, e.ttl))
	lease, err := b.Mutex(name, nil).Lock(e.contextFor(e.ttl + soon))
	if err != nil {
		e.Fatalf("take over: %v", err)
	}
	limit.check("the take-over")
	e.unlock(lease)
}

// lastMomentLooksEndless asks for a lock until its time is over. Whoever is refused a
// moment before, and is not told so, sleeps: nobody tells of a lock that has run out.
func lastMomentLooksEndless(e *env) {
	a, b, name := e.store(), e.store(), e.name("a")
	for range 3 {
		e.grant(a, e.request(name, e.ttl/5))
		for {
			g, err := b.Acquire(e.contextFor(soon), e.request(name, e.ttl))
			if err == nil {
				e.release(b, g)
				break
			}
			refusal, ok := errors.AsType[*driver.HeldError](err)
			if !ok || refusal.TTL <= 0 {
				e.Fatalf("%v (%+v), want a refusal that tells how much time is left", err, refusal)
			}
			time.Sleep(max(refusal.TTL-2*time.Millisecond, 50*time.Microsecond)) // the last moments are the question
		}
	}
}

func leaseEndsEarly(e *env) {
	a, b, name := e.store(), e.client(nil), e.name("a")
	asked := time.Now()
	e.grant(a, e.request(name, e.ttl))
	lease, err := b.Mutex(name, nil).Lock(e.contextFor(e.ttl + soon))
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
	e.prove(func(p *proof) error {
		a, link := e.faultyClient(&lock.Options{TTL: p.ttl})
		// The lease is shorter than its holder may think.
		link.Fail(bedrocktest.Acquire, bedrocktest.Fault{Linger: p.ttl / 10})
		lease := e.lockSoon(a, e.name("held for "+p.ttl.String()), nil)
		link.Freeze()
		defer link.Thaw()
		return e.knowsInTime(p, lease, e.client(nil))
	})
}

// knowsInTime has a client take the lock of a holder that is cut off. At the moment it has
// it, the holder must know.
func (e *env) knowsInTime(p *proof, lease *lock.Lease, rival *lock.Client) error {
	e.Helper()
	enterPace := p.watchPace()
	next := e.startWaiting(e.contextFor(2*p.ttl+soon), rival.Mutex(lease.Name(), nil))
	e.waitOver(next, 2*p.ttl+soon)
	var missed error
	if lease.Context().Err() == nil {
		missed = errors.New("the lock was granted to another while the holder's context went on")
	}
	enterPace()
	e.unlock(e.served(next, promptly))
	e.ends(lease, promptly)
	e.lost(lease.Unlock(e.contextFor(soon)))
	return missed
}

// lossLeavesNoMargin asks the store at the moment the holder's context ends: the
// lock must still be the holder's.
func lossLeavesNoMargin(e *env) {
	b := e.store()
	e.prove(func(p *proof) error {
		h := e.newHolder(p)
		h.link.Freeze()
		defer h.link.Thaw()
		enterPace := p.watchPace()
		defer enterPace()
		<-h.lease.Context().Done()
		start := time.Now()
		_, err := b.Acquire(e.contextFor(soon), e.request(h.lease.Name(), p.ttl))
		p.took(start, 0)
		switch {
		case errors.Is(err, driver.ErrHeld):
			return nil
		case err == nil:
			return errors.New("when the holder's context ended, the store had given the lock up already")
		default:
			return err
		}
	})
}

// slowRenewalDelaysTheLoss cuts a holder off after a renewal whose reply took its
// time.
func slowRenewalDelaysTheLoss(e *env) {
	e.prove(func(p *proof) error {
		h := e.newHolder(p)
		h.link.Fail(bedrocktest.Renew, bedrocktest.Fault{Linger: p.ttl / 10})
		if err := h.waitForRenewal(); err != nil {
			return p.cameTooLate(err)
		}
		h.link.Freeze()
		defer h.link.Thaw()
		return e.knowsInTime(p, h.lease, h.rival)
	})
}

func fixedLeaseIsRenewed(e *env) {
	a, b, name := e.client(nil), e.client(nil), e.name("a")
	limit := e.limit(e.ttl + e.ttl/2 + promptly)
	lease := e.lockSoon(a, name, &lock.MutexOptions{TTL: e.ttl, Fixed: true})
	e.refusedDuring(lease, b)
	e.becomesFree(b, name, e.ttl+promptly+soon)
	limit.check("a fixed lease")
	e.ends(lease, promptly)
	e.lost(lease.Unlock(e.contextFor(soon)))
}

func minHoldEndsEarly(e *env) {
	a, b, name := e.client(&lock.Options{TTL: e.long}), e.client(nil), e.name("a")
	asked := time.Now()
	lease := e.lockSoon(a, name, &lock.MutexOptions{MinHold: e.ttl})
	limit := e.limit(e.ttl + e.ttl/2 + promptly)
	e.unlock(lease)
	if !errors.Is(lease.Err(), lock.ErrReleased) {
		e.Errorf("want ErrReleased, got %v", lease.Err())
	}
	end := asked.Add(e.ttl)
	for time.Until(end) > e.ttl/2 {
		for _, c := range []*lock.Client{a, b} {
			if taken, err := c.Mutex(name, nil).TryLock(e.contextFor(soon)); !errors.Is(err, lock.ErrHeld) {
				e.grantedAfter(end, taken, err)
			}
		}
		time.Sleep(e.ttl / 20)
	}
	taken, err := b.Mutex(name, nil).Lock(e.contextFor(e.ttl + soon))
	e.grantedAfter(end, taken, err)
	limit.check("the minimum hold time")
}

// grantedAfter checks that a lock was had, and not before a moment: by a clock in whole
// milliseconds, as stores have.
func (e *env) grantedAfter(moment time.Time, l *lock.Lease, err error) {
	e.Helper()
	if err != nil {
		e.Fatalf("lock: %v", err)
	}
	if early := time.Until(moment); early > 2*time.Millisecond {
		e.Errorf("the minimum hold time of %s ended %s early", e.ttl, early)
	}
	e.unlock(l)
}

// minHoldEndsUnnoticed has another client wait that was told the life of the whole
// lease, an hour, before the unlock cut it down to the minimum.
func minHoldEndsUnnoticed(e *env) {
	a, b, name := e.client(&lock.Options{TTL: time.Hour}), e.client(&lock.Options{TTL: time.Hour}), e.name("a")
	start := time.Now()
	lease := e.lockSoon(a, name, &lock.MutexOptions{MinHold: 2 * e.ttl})
	next := e.startWaiting(e.contextFor(cleanUp+4*e.ttl), b.Mutex(name, nil))
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
	ttl := min(e.ttl, 3*time.Second) // over before the client gives the request up, after 5 s
	a, link := e.faultyClient(&lock.Options{TTL: ttl, Patience: -1})
	b, name := e.client(nil), e.name("a")
	link.Fail(bedrocktest.Acquire, bedrocktest.Fault{Linger: ttl + ttl/4})
	lease, err := a.Mutex(name, nil).TryLock(e.contextFor(2*ttl + soon))
	if err == nil {
		e.Fatalf("a grant that had run out was given out with token %d", lease.Token())
	}
	if !errors.Is(err, driver.ErrUnavailable) {
		e.Errorf("want ErrUnavailable, got %v", err)
	}
	e.becomesFree(b, name, soon)
}
