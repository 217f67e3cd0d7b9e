package memlock

import (
	"context"
	"slices"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

const (
	longestClaim = 5 * time.Second
	// How far a lock is passed on while others listen who stand in no line, and at most.
	mostPassed    = 32
	longestPassed = 100 * time.Millisecond
	// strangersLead is how much earlier those others hear of a release that is their turn.
	strangersLead = 3 * time.Millisecond
)

// stander is a request that stands in line for a name.
type stander struct {
	backend *backend
	client  string // who attends, where a backend is that of many clients; else empty
	grant   grant  // what it would be granted
	claim   time.Duration
	told    driver.Grant // what its client is told then
}

// Stand implements [driver.Successor].
func (b *backend) Stand(ctx context.Context, req driver.Request) (driver.Grant, error) {
	if err := b.check(ctx, &req); err != nil {
		return driver.Grant{}, err
	}
	if req.Fair {
		return b.store.joinLine(b, req, b.tell != nil)
	}
	if req.IsVote() {
		return b.store.acquire(b, req)
	}
	if err := req.CheckExclusive(); err != nil {
		return driver.Grant{}, err
	}
	return b.store.stand(b, req)
}

// Inherit implements [driver.Successor].
func (b *backend) Inherit(tell func(driver.Grant)) { b.tell = tell }

func (s *Store) stand(by *backend, req driver.Request) (driver.Grant, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.otherKind(req.Name, driver.Mutex); err != nil {
		return driver.Grant{}, err
	}
	given, err := s.takeFree(by, req)
	if err == nil {
		return given, nil
	}
	held, client := s.grants[req.Name], s.attending(req.Owner)
	if by.many && client == "" { // nobody would be told
		return driver.Grant{}, err
	}
	at := slices.IndexFunc(held.heirs, func(o *stander) bool { return o.backend == by && o.client == client })
	if at >= 0 && (held.heirs[at].grant.owner != req.Owner || held.heirs[at].late(s.clock())) {
		held.heirs, at = slices.Delete(slices.Clone(held.heirs), at, at+1), -1
	}
	if at < 0 {
		at = len(held.heirs)
		held.heirs = append(slices.Clip(held.heirs), s.newStander(by, &req))
	}
	heir := held.heirs[at]
	heir.grant.expires = s.clock().Add(heir.claim)
	s.grants[req.Name] = held
	err.Claim, err.Token = heir.claim, heir.grant.first
	return driver.Grant{}, err
}

// newStander reserves the tokens of a request that stands, which are higher than the holder's
// and than those of who stands before it. s.mu is held.
func (s *Store) newStander(by *backend, req *driver.Request) *stander {
	h := &stander{backend: by, client: s.attending(req.Owner), claim: min(req.TTL, longestClaim)}
	h.grant = grant{owner: req.Owner, meta: req.Meta, backend: by}
	h.grant.first, h.grant.tokens = s.reserve(req.Tokens)
	h.told = driver.Grant{
		Name: req.Name, Owner: req.Owner, Mode: req.Mode, TTL: req.TTL, Token: h.grant.first, Tokens: h.grant.tokens,
	}
	return h
}

// late reports whether the claim has run out.
func (h *stander) late(now time.Time) bool { return !now.Before(h.grant.expires) }

// hasGone reports whether nobody hears any more what is granted to a client of a backend of many. s.mu is held.
func (s *Store) hasGone(h *stander) bool { return h.client != "" && len(s.attendants[h.client]) == 0 }

// endStanding ends the standing of an owner that is given back. s.mu is held.
func (s *Store) endStanding(name, owner string) {
	held, ok := s.live(name)
	if !ok {
		return
	}
	held.heirs = slices.DeleteFunc(slices.Clone(held.heirs), func(h *stander) bool { return h.grant.owner == owner })
	s.grants[name] = held
}

// passOn gives a lock to the first who stands in line for it, unless it is the turn of others. It
// reports whether somebody has the lock by it, and whose turn it is. s.mu is held.
func (s *Store) passOn(by *backend, name string, held grant) (passed, turn bool) {
	now := s.clock()
	heirs := slices.DeleteFunc(slices.Clone(held.heirs), func(h *stander) bool { return h.late(now) || s.hasGone(h) })
	if len(heirs) == 0 {
		return false, false
	}
	if held.passed >= mostPassed {
		if s.strangers(by, name, heirs) > 0 {
			return false, true
		}
		held.passed = 0
	}
	if held.passed > 0 && now.Sub(held.passing) >= longestPassed {
		return false, true
	}
	next := heirs[0].grant
	next.since, next.heirs, next.passed, next.passing = now, heirs[1:], held.passed+1, held.passing
	if held.passed == 0 {
		next.passing = now
	}
	s.grants[name] = next
	heirs[0].backend.tell(heirs[0].told)
	if heirs[0].client == "" {
		s.wakeSleepers(heirs[0].backend, name, held)
	} else { // others sleep by the same backend
		s.wakeSleepers(nil, name, held)
	}
	return true, false
}

// wakeSleepers has those ask again who sleep since they were told of a longer life, and may stand in line, when
// the lock has been given to somebody for a claim. s.mu is held.
func (s *Store) wakeSleepers(to *backend, name string, before grant) {
	if before.expires.Sub(s.clock()) <= longestClaim {
		return
	}
	for w := range s.listeners[name] {
		if w.backend != to {
			w.signal()
		}
	}
}

// strangers returns how many clients listen for the release who do not stand in line, and did not
// have the lock. s.mu is held.
func (s *Store) strangers(by *backend, name string, heirs []*stander) (n int) {
	listening := make(map[*backend]int)
	for w := range s.listeners[name] {
		listening[w.backend]++
	}
	for b, all := range listening {
		standing := standingBy(b, heirs)
		switch {
		case b.many && b == by: // one of its clients has had it
			n += max(all-standing-1, 0)
		case b.many:
			n += max(all-standing, 0)
		case b != by && standing == 0:
			n += all
		}
	}
	return n
}

// standingBy returns how many stand by a backend, which may be that of many clients.
func standingBy(b *backend, heirs []*stander) (n int) {
	for _, h := range heirs {
		if h.backend == b {
			n++
		}
	}
	return n
}
