package locktest

import (
	"context"
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// renewal: what is held stays held, and nothing else comes of it.
func renewal() []behaviour {
	return []behaviour{
		{name: "RenewedLeaseExpires", run: renewedLeaseExpires},
		{name: "RenewalStopsAtTheFirstError", run: renewalStopsAtTheFirstError},
		{name: "RenewalSurvivesUnlock", run: renewalSurvivesUnlock},
		{name: "RenewalCreatesALock", run: renewalCreatesALock},
		{name: "RenewalExtendsAStranger", run: renewalExtendsAStranger},
		{name: "OneLossSpoilsTheBatch", run: oneLossSpoilsTheBatch},
		{name: "LossStaysSilent", run: lossStaysSilent},
	}
}

func renewedLeaseExpires(e *env) {
	e.keeps(func(h *holder) { h.stays(3 * h.ttl) })
}

// renewalStopsAtTheFirstError loses one renewal in each of the ways there are,
// and then none.
func renewalStopsAtTheFirstError(e *env) {
	e.keeps(func(h *holder) { h.stays(4 * h.ttl) },
		Fault{Before: ErrReplyLost}, Fault{}, Fault{After: ErrReplyLost}, Fault{Before: driver.ErrUnavailable})
}

func renewalSurvivesUnlock(e *env) {
	a, link := e.faultyClient(&lock.Options{TTL: e.ttl})
	b, name := e.client(nil), e.name("a")
	lease := e.lock(a, name, nil)
	e.eventually("a renewal", func() bool { return link.Answered(Renew) > 0 })
	e.unlock(lease)
	other := e.lock(b, name, nil)
	calls := link.Calls(Renew)
	e.always(2*e.ttl, func() { e.refused(a, name) })
	if after := link.Calls(Renew); after != calls {
		e.Errorf("%d renewals after Unlock", after-calls)
	}
	e.unlock(other)
}

// renewalCreatesALock renews what has been released, what has run out, and what
// never was.
func renewalCreatesALock(e *env) {
	a, b, name := e.store(), e.client(nil), e.name("a")
	released := e.grant(a, e.request(name, e.long))
	e.release(a, released)
	expired := e.grant(a, e.request(e.name("b"), e.ttl))
	e.becomesFree(b, expired.Name, e.ttl+soon)
	never := e.grant(a, e.request(e.name("c"), e.long))
	e.release(a, never)
	never.Owner = newOwner()
	for _, g := range []driver.Grant{released, expired, never} {
		if err := a.Renew(e.within(soon), []driver.Grant{g})[0]; !errors.Is(err, driver.ErrLost) {
			e.Errorf("renew what is gone: want ErrLost, got %v", err)
		}
		e.free(b, g.Name)
	}
}

// renewalExtendsAStranger renews a grant whose lock is another's by now.
func renewalExtendsAStranger(e *env) {
	a, b, name := e.store(), e.store(), e.name("a")
	old := e.grant(a, e.request(name, e.long))
	e.release(a, old)
	start := time.Now()
	present := e.grant(b, e.request(name, e.ttl))
	if err := a.Renew(e.within(soon), []driver.Grant{old})[0]; !errors.Is(err, driver.ErrLost) {
		e.Errorf("renew another's lock: want ErrLost, got %v", err)
	}
	e.denied(a, present)
	e.becomesFree(e.client(nil), name, e.ttl+soon)
	e.took("the other's lease", start, e.ttl+e.ttl/2+promptly)
}

func oneLossSpoilsTheBatch(e *env) {
	a, b := e.store(), e.store()
	var batch []driver.Grant
	for i := range 5 {
		batch = append(batch, e.grant(a, e.request(e.name(numbered(i)), e.long)))
	}
	e.release(a, batch[1])
	e.release(a, batch[3])
	for i, err := range a.Renew(e.within(soon), batch) {
		if gone := i == 1 || i == 3; gone != errors.Is(err, driver.ErrLost) || !gone && err != nil {
			e.Errorf("renewal %d of the batch: %v", i, err)
		}
	}
	for _, i := range []int{0, 2, 4} {
		e.denied(b, batch[i])
		e.release(a, batch[i])
	}
}

// lossStaysSilent takes the lock away behind the holder's back.
func lossStaysSilent(e *env) {
	a, thief, name := e.client(&lock.Options{TTL: e.ttl}), e.store(), e.name("a")
	lease := e.lock(a, name, nil)
	ctx := lease.Context()
	e.release(thief, driver.Grant{Name: name, Owner: lease.Owner(), TTL: e.ttl, Token: lease.Token(), Tokens: 1})
	e.ends(lease, e.ttl/2+promptly) // the next renewal finds it out
	if !errors.Is(context.Cause(ctx), lock.ErrLost) {
		e.Errorf("the cause is %v", context.Cause(ctx))
	}
	e.lost(lease.Unlock(e.within(soon)))
	e.becomesFree(a, name, soon) // the holder hears of it before the queue does
}
