package memlock

import (
	"context"
	"slices"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// place is that of somebody who waits in the line of a name for a fair lock. The line belongs to the name, not to
// who holds it: it goes on when nobody does.
type place struct {
	backend *backend
	req     driver.Request
	since   time.Time
	expires time.Time // then it has not asked again in time, and is passed over
	stands  bool      // it is granted the lock unasked; else it is told that it is its turn
}

// keptFor is for how long a place is kept without asking again, and how long what it is granted unasked lives.
func (p *place) keptFor() time.Duration { return min(p.req.TTL, longestClaim) }

// turnOf is what the watches of an owner's turn listen for. No name has such a character.
func turnOf(name, owner string) string { return name + "\x00" + owner }

// WatchTurn implements [driver.TurnWaiter].
func (b *backend) WatchTurn(_ context.Context, name, owner string) (driver.Watch, error) {
	return b.startWatch(turnOf(name, owner)), nil
}

// joinLine grants what is free to whose turn it is, and gives everybody else who waits a place in line.
func (s *Store) joinLine(by *backend, req driver.Request, stands bool) (driver.Grant, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.otherKind(req.Name, driver.Mutex); err != nil {
		return driver.Grant{}, err
	}
	refusal := s.refusalInLine(&req)
	if refusal == nil {
		var given driver.Grant
		if given, refusal = s.takeFree(by, req); refusal == nil {
			s.removePlace(req.Name, req.Owner)
			return given, nil
		}
	}
	if req.Waits {
		s.keepPlace(&place{backend: by, req: req, stands: stands}, refusal)
	}
	return driver.Grant{}, refusal
}

// refusalInLine refuses a request for a free lock while another one is first in line; nil if that is not so. Nobody
// tells the line that a holder's time is over, so whoever asks then serves it. s.mu is held.
func (s *Store) refusalInLine(req *driver.Request) *driver.HeldError {
	line := s.livingLine(req.Name)
	if len(line) == 0 || line[0].req.Owner == req.Owner {
		return nil
	}
	if _, held := s.live(req.Name); held {
		return nil
	}
	first, granted := s.serveLine(req.Name)
	if first == nil || granted {
		return nil
	}
	left := max(first.expires.Sub(s.clock()), 1) // its time may be over by now
	return &driver.HeldError{Owner: first.req.Owner, TTL: left, Waits: true}
}

// keepPlace gives somebody who was refused a place at the end of the line, or lets it keep the one it has. s.mu is
// held.
func (s *Store) keepPlace(p *place, refusal *driver.HeldError) {
	s.makeRoom()
	now := s.clock()
	p.since, p.expires = now, now.Add(p.keptFor())
	line := s.livingLine(p.req.Name)
	at := placeOf(line, p.req.Owner)
	if at < 0 {
		at = len(line)
		line = append(line, p)
	} else {
		p.since, line[at] = line[at].since, p
	}
	s.lines[p.req.Name] = line
	refusal.Place, refusal.Again, refusal.Token = at+1, p.keptFor(), s.token
	if refusal.Listen = !p.stands; p.stands {
		refusal.Claim = p.keptFor()
	}
}

// placeOf returns where somebody is in a line, or -1.
func placeOf(line []*place, owner string) int {
	return slices.IndexFunc(line, func(p *place) bool { return p.req.Owner == owner })
}

// livingLine returns who waits for a name, in order, without those whose time is over. s.mu is held.
func (s *Store) livingLine(name string) []*place {
	line := s.lines[name]
	if line == nil {
		return nil
	}
	now := s.clock()
	line = slices.DeleteFunc(line, func(p *place) bool { return !now.Before(p.expires) })
	if len(line) == 0 {
		delete(s.lines, name)
		return nil
	}
	s.lines[name] = line
	return line
}

// serveLine gives a lock that nobody has to the first in line, if there is one, or else tells that one that it is
// its turn: it goes on being first, until it has asked or its time is over. s.mu is held.
func (s *Store) serveLine(name string) (first *place, granted bool) {
	line := s.livingLine(name)
	if len(line) == 0 {
		return nil, false
	}
	first = line[0]
	if !first.stands {
		s.wakeListeners(turnOf(name, first.req.Owner))
		return first, false
	}
	s.removePlace(name, first.req.Owner)
	s.grantUnasked(first)
	return first, true
}

// grantUnasked grants somebody who stands in line what it has asked for. Its client has to renew it within the claim:
// it may have died since it asked. s.mu is held.
func (s *Store) grantUnasked(p *place) {
	g := grant{owner: p.req.Owner, since: s.clock(), meta: p.req.Meta, backend: p.backend}
	g.first, g.tokens = s.reserve(p.req.Tokens)
	g.expires = g.since.Add(p.keptFor())
	s.grants[p.req.Name] = g
	p.backend.tell(driver.Grant{
		Name: p.req.Name, Owner: p.req.Owner, Mode: p.req.Mode, TTL: p.req.TTL, Token: g.first, Tokens: g.tokens,
	})
}

// removePlace takes somebody out of the line, who has the lock, or does not want it any more. It reports whether that
// was the first. s.mu is held.
func (s *Store) removePlace(name, owner string) (wasFirst bool) {
	line := s.livingLine(name)
	at := placeOf(line, owner)
	if at < 0 {
		return false
	}
	if line = slices.Delete(line, at, at+1); len(line) == 0 {
		delete(s.lines, name)
	} else {
		s.lines[name] = line
	}
	return at == 0
}

// leaveLine takes somebody out of the line who does not want the lock any more. If it was its turn, it is that of
// the next one now. s.mu is held.
func (s *Store) leaveLine(name, owner string) {
	if !s.removePlace(name, owner) {
		return
	}
	if _, held := s.live(name); !held && s.otherKind(name, driver.Mutex) == nil {
		s.serveLine(name)
	}
}

// wakeFirst has the first in line ask again, which may sleep for as long as the holder had. s.mu is held.
func (s *Store) wakeFirst(name string) {
	if line := s.livingLine(name); len(line) > 0 {
		s.wakeListeners(turnOf(name, line[0].req.Owner))
	}
}

// describeLine tells who waits for a fair lock. s.mu is held.
func (s *Store) describeLine(name string) []driver.InLine {
	var told []driver.InLine
	for _, p := range s.livingLine(name) {
		told = append(told, driver.InLine{Owner: p.req.Owner, Since: p.since, Meta: p.req.Meta})
	}
	return told
}

// clientsInLine counts those who wait there. s.mu is held.
func (s *Store) clientsInLine(name string) int {
	there := make(map[string]bool)
	for _, p := range s.livingLine(name) {
		there[driver.ClientOf(p.req.Owner)] = true
	}
	return len(there)
}
