package locktest

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// permits: so many at a time, and none is ever lost.
func permits() []behaviour {
	needs := []Capability{Permitting}
	return []behaviour{
		{name: "TooManyPermits", run: tooManyPermits, needs: needs},
		{name: "PermitsAreContendedFor", run: permitsAreContendedFor, needs: needs},
		{name: "PermitsOfTheDeadAreLost", run: permitsOfTheDeadAreLost, needs: needs},
		{name: "RenewedPermitsExpire", run: renewedPermitsExpire, needs: needs},
		{name: "PermitsComeBackTwice", run: permitsComeBackTwice, needs: needs},
		{name: "StrangerReleasesPermits", run: strangerReleasesPermits, needs: needs},
		{name: "RetriedPermitsCountTwice", run: retriedPermitsCountTwice, needs: needs},
		{name: "PermitTokensRepeat", run: permitTokensRepeat, needs: needs},
		{name: "ReleasedPermitWakesNobody", run: releasedPermitWakesNobody, needs: append(needs, Watching)},
		{name: "LowerLimitIsIgnored", run: lowerLimitIsIgnored, needs: needs},
		{name: "HigherLimitWakesNobody", run: higherLimitWakesNobody, needs: append(needs, Watching)},
		{name: "PermitsAreNotShown", run: permitsAreNotShown, needs: append(needs, Inspecting)},
	}
}

// permitRequest asks for n of limit permits.
func (e *env) permitRequest(name string, n, limit int, ttl time.Duration) driver.Request {
	req := e.requestIn(driver.Permit, name, ttl)
	req.Permits, req.Limit = n, limit
	return req
}

func tooManyPermits(e *env) {
	a, b, name := e.client(nil), e.client(nil), e.name("a")
	here, there := a.Semaphore(name, 3, nil), b.Semaphore(name, 3, nil)
	one, two := e.takeSoon(here), e.takeSoon(there.Permits(2))
	e.refusedTo(here)
	e.refusedTo(there)
	e.unlock(one)
	e.refusedTo(there.Permits(2))
	e.freeTo(there)
	e.unlock(two)
	e.freeTo(here.Permits(3))
}

func permitsAreContendedFor(e *env) {
	name := e.name("a")
	var (
		all   sync.WaitGroup
		taken atomic.Int32
	)
	for i := range 3 {
		s := e.client(nil).Semaphore(name, 4, nil)
		for j := range 5 {
			all.Go(func() {
				for n := range 8 {
					want := int32(1 + (i+j+n)%3)
					lease, err := s.LockN(e.contextFor(cleanUp), int(want))
					if err != nil {
						e.Errorf("lock: %v", err)
						return
					}
					if now := taken.Add(want); now > 4 {
						e.Errorf("%d permits of 4 are taken", now)
					}
					time.Sleep(time.Millisecond)
					taken.Add(-want)
					if err := lease.Unlock(e.contextFor(cleanUp)); err != nil {
						e.Errorf("unlock: %v", err)
					}
				}
			})
		}
	}
	all.Wait()
	e.freeTo(e.client(nil).Semaphore(name, 4, nil).Permits(4))
}

func permitsOfTheDeadAreLost(e *env) {
	a, b, name := e.store(), e.client(nil), e.name("a")
	e.grant(a, e.permitRequest(name, 2, 3, e.ttl))
	s := b.Semaphore(name, 3, nil)
	one := e.takeSoon(s)
	e.unlock(e.served(e.startTaking(e.contextFor(e.ttl+cleanUp), s.Permits(2)), e.ttl+soon))
	e.unlock(one)
	e.freeTo(s.Permits(3))
}

func renewedPermitsExpire(e *env) { e.prove(e.keepsPermits) }

func (e *env) keepsPermits(p *proof) error {
	defer p.watchPace()()
	a, b, name := e.client(&lock.Options{TTL: p.ttl}), e.client(nil), e.name("held for "+p.ttl.String())
	lease := e.takeSoon(a.Semaphore(name, 3, nil).Permits(2))
	e.always(3*p.ttl, func() {
		if lease.Err() == nil {
			e.refusedTo(b.Semaphore(name, 3, nil).Permits(2))
		}
	})
	if err := lease.Unlock(e.contextFor(soon)); err != nil {
		return err
	}
	e.freeTo(b.Semaphore(name, 3, nil).Permits(3))
	return nil
}

func permitsComeBackTwice(e *env) {
	a, name := e.store(), e.name("a")
	one, two := e.grant(a, e.permitRequest(name, 1, 2, e.long)), e.grant(a, e.permitRequest(name, 1, 2, e.long))
	for range 3 {
		e.release(a, one)
	}
	three := e.grant(a, e.permitRequest(name, 1, 2, e.long))
	e.heldBy(a, e.permitRequest(name, 1, 2, e.long), two.Owner, three.Owner)
	e.release(a, two)
	e.release(a, three)
}

func strangerReleasesPermits(e *env) {
	a, b, name := e.store(), e.store(), e.name("a")
	held := e.grant(a, e.permitRequest(name, 2, 2, e.long))
	e.giveUp(b, e.permitRequest(name, 2, 2, e.long))
	e.heldBy(b, e.permitRequest(name, 1, 2, e.long), held.Owner)
	e.release(a, held)
}

func retriedPermitsCountTwice(e *env) {
	a, name := e.store(), e.name("a")
	req := e.permitRequest(name, 2, 3, e.long)
	first := e.grant(a, req)
	again := e.grant(a, req)
	if again.Token < first.Token || again.Token > first.Token+uint64(first.Tokens)-1 {
		e.Errorf("asked for again, the token is %d, not %d", again.Token, first.Token)
	}
	one := e.grant(a, e.permitRequest(name, 1, 3, e.long))
	e.release(a, first)
	e.release(a, one)
	e.release(a, e.grant(a, e.permitRequest(name, 3, 3, e.long)))
}

func permitTokensRepeat(e *env) {
	a, b, name := e.store(), e.store(), e.name("a")
	last := uint64(0)
	var held []driver.Grant
	for i := range 8 {
		req := e.permitRequest(name, 1, 8, e.long)
		req.Tokens = 1 + i%3
		g := e.grant([]driver.Backend{a, b}[i%2], req)
		if g.Token <= last {
			e.Errorf("token %d after %d", g.Token, last)
		}
		last = g.Token + uint64(g.Tokens) - 1
		held = append(held, g)
	}
	for _, g := range held {
		e.release(a, g)
	}
}

func releasedPermitWakesNobody(e *env) {
	a, b, name := e.client(&lock.Options{TTL: e.long}), e.client(nil), e.name("a")
	one := e.takeSoon(a.Semaphore(name, 1, nil))
	waiting := e.startTaking(e.contextFor(cleanUp), b.Semaphore(name, 1, nil))
	time.Sleep(promptly)
	e.unlock(one)
	e.unlock(e.served(waiting, soon))
}

func lowerLimitIsIgnored(e *env) {
	a, b, name := e.client(nil), e.client(nil), e.name("a")
	one, two := e.takeSoon(a.Semaphore(name, 3, nil)), e.takeSoon(a.Semaphore(name, 3, nil).Permits(2))
	lower := b.Semaphore(name, 2, nil)
	e.refusedTo(lower)
	e.unlock(one)
	e.refusedTo(lower) // two of two are taken
	if err := two.Err(); err != nil {
		e.Errorf("a lower limit has taken permits away: %v", err)
	}
	e.unlock(two)
	e.freeTo(lower.Permits(2))
}

func higherLimitWakesNobody(e *env) {
	a, b, name := e.client(&lock.Options{TTL: e.long}), e.client(nil), e.name("a")
	one := e.takeSoon(a.Semaphore(name, 1, nil))
	waiting := e.startTaking(e.contextFor(cleanUp), b.Semaphore(name, 3, nil).Permits(2))
	e.unlock(e.served(waiting, soon)) // its own limit goes for it
	e.unlock(one)
}

func permitsAreNotShown(e *env) {
	a, b, name := e.client(&lock.Options{TTL: e.long}), e.client(nil), e.name("a")
	one := e.takeSoon(a.Semaphore(name, 5, &lock.SemaphoreOptions{Meta: map[string]string{"job": "x"}}).Permits(2))
	two := e.takeSoon(b.Semaphore(name, 5, nil))
	info, err := b.Inspect(e.contextFor(soon), name)
	if err != nil || info.Kind != driver.Semaphore || len(info.Holders) != 2 || info.Limit != 5 ||
		info.Token < two.Token() {
		e.Fatalf("three permits of five are shown as %+v, error %v", info, err)
	}
	for _, h := range info.Holders {
		switch {
		case h.Mode != driver.Permit, h.TTL <= 0, h.TTL > 20*e.long:
			e.Errorf("a holder is shown as %+v", h)
		case h.Owner == e.told(one.Owner()):
			if h.Permits != 2 || h.Meta["job"] != "x" {
				e.Errorf("two permits are shown as %+v", h)
			}
		case h.Owner != e.told(two.Owner()), h.Permits != 1:
			e.Errorf("a holder is shown as %+v", h)
		}
	}
	e.unlock(one)
	e.unlock(two)
}
