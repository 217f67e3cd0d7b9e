package client

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// standings are the requests of a backend that stand in the line of the server's store, by owner.
type standings struct {
	mu      sync.Mutex
	byOwner map[string]standing
	full    int // how many there may be before those are looked for that have run out
}

// standing is a request that stands, or is about to.
type standing struct {
	name   string
	stands bool      // as its refusal says
	token  uint64    // the first of what it is granted, 0 if that is not known
	until  time.Time // it may be granted until then
}

const (
	fewStandings = 256
	// deafAfter is for how long a stream may bring nothing that should have told of a grant by now.
	deafAfter = time.Second
)

// Inherit implements [driver.Successor].
func (b *backend) Inherit(tell func(driver.Grant)) { b.hearing.give = tell }

// Stand implements [driver.Successor]. A request stands where the server's store passes locks on, and while there is a
// stream by which this client would hear of it; the line of a fair lock is another one.
func (b *backend) Stand(ctx context.Context, req driver.Request) (driver.Grant, error) {
	if !b.hearing.hearsOf(&req) {
		return b.Acquire(ctx, req)
	}
	sent := time.Now()
	b.standing.add(req.Owner, standing{name: req.Name, until: sent.Add(req.TTL)}) // it may be told of before the answer
	grant, err := b.request(ctx, &req, true)
	if err == nil {
		b.inheritUnheard(&grant)
		return grant, nil
	}
	if held, refused := errors.AsType[*driver.HeldError](err); refused && held.Claim > 0 {
		b.standing.enterClaim(req.Owner, held.Token, sent.Add(held.Claim))
	} else {
		b.standing.removeUnclaimed(req.Owner)
	}
	return grant, err
}

// inheritUnheard ends the standing of a request that was granted by asking. If it was granted before, the stream should
// have told of it, and is given some time to bring anything: a connection can be open and bring nothing.
func (b *backend) inheritUnheard(g *driver.Grant) {
	if stood, ok := b.standing.remove(g.Owner); ok && stood.token != 0 && stood.token == g.Token {
		if s := b.hearing.stream.Load(); s != nil && !s.awaits.Swap(true) {
			time.AfterFunc(deafAfter, s.endIfSilent)
		}
	}
}

// inheritTold passes on what the stream tells. A grant that is to be asked for goes on standing until then.
func (b *backend) inheritTold(g driver.Grant) {
	if g.Tokens > 0 {
		b.standing.remove(g.Owner)
		b.heard.noteUse(g.Name)
	}
	if b.hearing.give != nil {
		b.hearing.give(g)
	}
}

// askForMissed has all ask who stand, for something they were granted may not have been heard.
func (b *backend) askForMissed() {
	if b.hearing.give == nil {
		return
	}
	for _, name := range b.standing.names() {
		b.hearing.give(driver.Grant{Name: name})
	}
}

// add enters a request. One that stands already keeps what is known of it.
func (s *standings) add(owner string, one standing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byOwner == nil {
		s.byOwner, s.full = make(map[string]standing), fewStandings
	}
	if len(s.byOwner) >= s.full {
		s.removeOld()
		s.full = 2*len(s.byOwner) + fewStandings
	}
	if before := s.byOwner[owner]; before.stands {
		one.stands, one.token = true, before.token
	}
	s.byOwner[owner] = one
}

// enterClaim enters that a request stands, unless it was granted meanwhile.
func (s *standings) enterClaim(owner string, token uint64, until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one, ok := s.byOwner[owner]; ok {
		one.stands, one.token, one.until = true, token, until
		s.byOwner[owner] = one
	}
}

// removeUnclaimed takes a request out that does not stand. One that did may be granted yet.
func (s *standings) removeUnclaimed(owner string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.byOwner[owner].stands {
		delete(s.byOwner, owner)
	}
}

// remove takes a request out, and returns it.
func (s *standings) remove(owner string) (one standing, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, ok = s.byOwner[owner]
	delete(s.byOwner, owner)
	return one, ok
}

// names returns for which names somebody stands.
func (s *standings) names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removeOld()
	var names []string
	for _, one := range s.byOwner {
		names = append(names, one.name)
	}
	return names
}

// removeOld removes those that have run out. s.mu is held.
func (s *standings) removeOld() {
	now := time.Now()
	maps.DeleteFunc(s.byOwner, func(_ string, one standing) bool { return now.After(one.until) })
}
