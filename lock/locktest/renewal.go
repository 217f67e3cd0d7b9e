package locktest

import (
	"context"
	"errors"

	"github.com/bedrock-go/bedrock/bedrocktest"
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
		bedrocktest.Fault{Before: bedrocktest.ErrReplyLost}, bedrocktest.Fault{},
		bedrocktest.Fault{After: bedrocktest.ErrReplyLost}, bedrocktest.Fault{Before: driver.ErrUnavailable})
}

func renewalSurvivesUnlock(e *env) {
	h := e.renewedAndUnlocked()
	name := h.lease.Name()
	other := e.lockSoon(h.rival, name, nil)
	calls := h.link.Calls(bedrocktest.Renew)
	e.always(2*h.ttl, func() { e.refused(h.client, name) })
	if after := h.link.Calls(bedrocktest.Renew); after != calls {
		e.Errorf("%d renewals after Unlock", after-calls)
	}
	e.unlock(other)
}

// renewedAndUnlocked returns a holder whose lease was renewed, and then unlocked before it
// ended.
func (e *env) renewedAndUnlocked() (h *holder) {
	e.Helper()
	e.prove(func(p *proof) error {
		h = e.newHolder(p)
		if err := h.waitForRenewal(); err != nil {
			return p.cameTooLate(err)
		}
		if err := h.lease.Unlock(e.contextFor(soon)); err != nil {
			return p.cameTooLate(err)
		}
		return nil
	})
	return h
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
		if err := a.Renew(e.contextFor(soon), []driver.Grant{g})[0]; !errors.Is(err, driver.ErrLost) {
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
	present := e.grant(b, e.request(name, e.long/4))
	if err := a.Renew(e.contextFor(soon), []driver.Grant{old})[0]; !errors.Is(err, driver.ErrLost) {
		e.Errorf("renew another's lock: want ErrLost, got %v", err)
	}
	if left := e.denied(a, present); left > present.TTL {
		e.Errorf("a lease of %s has %s left", present.TTL, left)
	}
	e.becomesFree(e.client(nil), name, e.long/2)
}

func oneLossSpoilsTheBatch(e *env) {
	a, b := e.store(), e.store()
	var batch []driver.Grant
	for i := range 5 {
		batch = append(batch, e.grant(a, e.request(e.name(numbered(i)), e.long)))
	}
	e.release(a, batch[1])
	e.release(a, batch[3])
	for i, err := range a.Renew(e.contextFor(soon), batch) {
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
	lease := e.lockSoon(a, name, nil)
	ctx := lease.Context()
	e.release(thief, driver.Grant{Name: name, Owner: lease.Owner(), TTL: e.ttl, Token: lease.Token(), Tokens: 1})
	e.ends(lease, e.ttl/2+promptly) // the next renewal finds it out
	if !errors.Is(context.Cause(ctx), lock.ErrLost) {
		e.Errorf("the cause is %v", context.Cause(ctx))
	}
	e.lost(lease.Unlock(e.contextFor(soon)))
	e.becomesFree(a, name, soon) // the holder hears of it before the queue does
}
