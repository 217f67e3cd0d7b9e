package locks

import (
	"context"
	"slices"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

const (
	longestClaim  = 5 * time.Second
	mostPassed    = 32                     // while others listen
	longestPassed = 100 * time.Millisecond // whoever may wait
	strangersLead = 3 * time.Millisecond
)

// successor is a backend whose requests may stand in the store's line; older clients have none.
type successor struct{ *backend }

var _ driver.Successor = successor{}

// heir is a request that stands.
type heir struct {
	backend *backend
	grant   driver.Grant // what it would be granted
	claim   time.Duration
	until   time.Duration // by the server's clock
}

// Stand implements [driver.Successor].
func (b successor) Stand(ctx context.Context, req driver.Request) (driver.Grant, error) {
	if err := req.CheckExclusive(); err != nil {
		return driver.Grant{}, err
	}
	return b.acquireWith(ctx, &req, "stand for ", b.stand)
}

// Inherit implements [driver.Successor].
func (b successor) Inherit(tell func(driver.Grant)) {
	b.tell = tell
	if b.twin != nil {
		b.twin.(driver.Successor).Inherit(b.pushGrant)
	}
}

// pushGrant sends what was granted on its way. Of one that is lost its client knows later that something was.
func (b *backend) pushGrant(g driver.Grant) {
	b.grants++
	b.deliver("grant", g.Name, b.grants, func(lost bool) {
		if lost {
			b.tell(driver.Grant{Name: g.Name})
		} else {
			b.tell(g)
		}
	})
}

func (s *store) stand(b *backend, req *driver.Request) (driver.Grant, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	grant, err := s.takeFree(b, req)
	if err == nil {
		return grant, nil
	}
	l := s.locks[req.Name]
	at := slices.IndexFunc(l.heirs, func(h *heir) bool { return h.backend == b })
	if at >= 0 && (l.heirs[at].grant.Owner != req.Owner || l.heirs[at].until <= s.now()) {
		l.heirs, at = slices.Delete(l.heirs, at, at+1), -1
	}
	if at < 0 {
		first, n := s.reserve(req)
		h := &heir{backend: b, claim: min(req.TTL, longestClaim), grant: driver.Grant{
			Name: req.Name, Owner: req.Owner, Mode: req.Mode, TTL: req.TTL, Token: first, Tokens: n,
		}}
		at, l.heirs = len(l.heirs), append(l.heirs, h)
	}
	l.heirs[at].until = s.now() + l.heirs[at].claim
	err.Claim, err.Token = l.heirs[at].claim, l.heirs[at].grant.Token
	return driver.Grant{}, err
}

// endStanding ends the standing of an owner. s.mu is held.
func (s *store) endStanding(g *driver.Grant) {
	if l := s.live(g.Name); l != nil {
		l.heirs = slices.DeleteFunc(l.heirs, func(h *heir) bool { return h.grant.Owner == g.Owner })
	}
}

// passOn gives a lock that is being released to the first in line, unless it is the turn of others. It
// reports which of both. s.mu is held.
func (s *store) passOn(l *lease, by int) (passed, turn bool) {
	now := s.now()
	heirs := slices.DeleteFunc(l.heirs, func(h *heir) bool { return h.until <= now })
	switch l.heirs = heirs; {
	case len(heirs) == 0:
		return false, false
	case l.passed >= mostPassed && s.strangers(l, by):
		return false, true
	case l.passed >= mostPassed:
		l.passed = 0
	}
	if l.passed > 0 && now-l.passing >= longestPassed {
		return false, true
	}
	h, began := heirs[0], l.passing
	if l.passed == 0 {
		began = now
	}
	s.endLease(l, s.report.Now(), released)
	next := &lease{
		name: l.name, owner: h.grant.Owner, first: h.grant.Token, tokens: h.grant.Tokens, ttl: h.grant.TTL,
		granted: s.report.Now(), expires: h.until, heirs: heirs[1:], passed: l.passed + 1, passing: began,
		backend: h.backend,
	}
	s.addLease(next)
	if h.backend.twin == nil {
		h.backend.pushGrant(h.grant)
	}
	if l.expires-now > longestClaim { // who sleeps was told of a longer life, and may stand in line
		for w := range s.watches[l.name] {
			if w.twin == nil && w.backend != h.backend {
				w.push()
			}
		}
	}
	return true, false
}

// strangers reports whether somebody listens who does not stand in line, and is not the one who releases.
func (s *store) strangers(l *lease, by int) bool {
	for w := range s.watches[l.name] {
		if w.backend.link.ID != by && !l.hasHeir(w.backend) {
			return true
		}
	}
	return false
}

func (l *lease) hasHeir(b *backend) bool {
	return slices.ContainsFunc(l.heirs, func(h *heir) bool { return h.backend == b })
}
