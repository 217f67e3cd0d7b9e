package locks

import (
	"strings"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/internal/sim"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// latchTime is for how long the store recognises a repeated release.
const latchTime = 10 * time.Second

// store is the server: one owner per name until a release or the end of its time, by
// the server's own clock.
type store struct {
	report *sim.Report
	judge  *judge

	mu      sync.Mutex
	ahead   time.Duration // of the server's clock
	locks   map[string]*lease
	tokens  map[string]uint64
	latches map[string]latch // by client and name
	watches map[string]map[*watch]bool
}

// lease is a grant as the store has it.
type lease struct {
	name, owner string
	first       uint64
	tokens      int
	ttl         time.Duration
	granted     time.Duration
	expires     time.Duration // by the server's clock
}

type latch struct {
	owner string
	until time.Duration
}

func newStore(r *sim.Report, j *judge) *store {
	return &store{
		report: r, judge: j, locks: make(map[string]*lease), tokens: make(map[string]uint64),
		latches: make(map[string]latch), watches: make(map[string]map[*watch]bool),
	}
}

// now is the server's clock.
func (s *store) now() time.Duration { return s.report.Now() + s.ahead }

// jumpClock makes the server's clock jump.
func (s *store) jumpClock(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ahead += d
	s.report.Trace("store: the clock jumps by %s", d)
}

// live returns the lease of a name that has not run out. s.mu is held.
func (s *store) live(name string) *lease {
	l := s.locks[name]
	if l != nil && l.expires <= s.now() {
		s.endLease(l, l.expires-s.ahead, ranOut)
		return nil
	}
	return l
}

// endLease forgets a lease that is over since a time.
func (s *store) endLease(l *lease, at time.Duration, how ending) {
	delete(s.locks, l.name)
	s.report.Trace("store: %s of %s is over since %s: %s", l.name, short(l.owner), at, how)
	s.judge.addEnd(l, at, how)
}

// endExpired ends what has run out, so that it is judged.
func (s *store) endExpired() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range s.locks {
		s.live(name)
	}
}

// count returns how many leases and watches there are.
func (s *store) count() (leases, watches int) {
	s.endExpired()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.watches {
		watches += len(w)
	}
	return len(s.locks), watches
}

func (s *store) acquire(client int, req *driver.Request) (driver.Grant, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.live(req.Name)
	if l != nil && l.owner != req.Owner {
		return driver.Grant{}, &driver.HeldError{Owner: l.owner, TTL: l.expires - s.now()}
	}
	if l == nil {
		last := max(s.tokens[req.Name]+uint64(req.Tokens), uint64(max(s.now().Microseconds(), 0)))
		s.tokens[req.Name] = last
		l = &lease{
			name: req.Name, owner: req.Owner, granted: s.report.Now(),
			first: last - uint64(req.Tokens) + 1, tokens: req.Tokens, ttl: req.TTL,
		}
		s.locks[req.Name] = l
		s.judge.addGrant(l, client)
		s.report.Trace("store: %s to client %d as %s, token %d and %d more",
			req.Name, client, short(req.Owner), l.first, l.tokens-1)
	}
	l.expires = s.now() + req.TTL
	return driver.Grant{
		Name: req.Name, Owner: req.Owner, Mode: req.Mode, TTL: req.TTL, Token: l.first, Tokens: l.tokens,
	}, nil
}

func (s *store) renew(g *driver.Grant) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.live(g.Name)
	if l == nil || l.owner != g.Owner {
		return driver.ErrLost
	}
	expires := s.now() + g.TTL
	shortened := expires < l.expires
	if l.expires = expires; shortened {
		s.wakeWaiters(-1, g.Name)
	}
	return nil
}

// release frees a name and returns how many other clients listen for that.
func (s *store) release(client int, g *driver.Grant) (others int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := string(rune('0'+client)) + g.Name
	if l := s.live(g.Name); l != nil && l.owner == g.Owner {
		s.latches[key] = latch{g.Owner, s.now() + latchTime}
		s.endLease(l, s.report.Now(), released)
		return s.wakeWaiters(client, g.Name), nil
	}
	if had := s.latches[key]; had.owner == g.Owner && s.now() < had.until {
		return 0, nil
	}
	return 0, driver.ErrLost
}

// force takes a lock away.
func (s *store) force(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.live(name)
	if l != nil {
		s.endLease(l, s.report.Now(), forced)
	}
	s.tokens[name] += 2
	s.wakeWaiters(-1, name)
	return l != nil
}

// wakeWaiters tells who listens, and returns how many clients besides one that are. s.mu is
// held.
func (s *store) wakeWaiters(client int, name string) (others int) {
	clients := make(map[int]bool)
	for w := range s.watches[name] {
		if w.twin == nil {
			w.push()
		}
		clients[w.backend.link.ID] = true
	}
	delete(clients, client)
	return len(clients)
}

// short is an owner without the part that differs from run to run.
func short(owner string) string {
	return owner[strings.LastIndexByte(owner, ':')+1:]
}
