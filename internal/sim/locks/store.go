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
	jumped  time.Duration // when that has changed last
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
	heirs       []*heir       // who stand in line
	passed      int           // how often in a row it was passed on
	passing     time.Duration // since when, by the server's clock
	backend     *backend      // whose it is
	linger      bool          // its client is told when somebody else wants it
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
	s.endExpired()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ahead, s.jumped = s.ahead+d, s.report.Now()
	s.report.Trace("store: the clock jumps by %s", d)
}

// live returns the lease of a name that has not run out. s.mu is held.
func (s *store) live(name string) *lease {
	l := s.locks[name]
	if l != nil && l.expires <= s.now() {
		s.endLease(l, max(l.expires-s.ahead, s.jumped), ranOut)
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

func (s *store) acquire(b *backend, req *driver.Request) (driver.Grant, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	grant, err := s.takeFree(b, req)
	if err != nil {
		return driver.Grant{}, err
	}
	return grant, nil
}

// takeFree grants what is free. s.mu is held.
func (s *store) takeFree(b *backend, req *driver.Request) (driver.Grant, *driver.HeldError) {
	l := s.live(req.Name)
	if l != nil && l.owner != req.Owner {
		if l.linger {
			l.notifyClient(driver.Wanted)
		}
		return driver.Grant{}, &driver.HeldError{Owner: l.owner, TTL: l.expires - s.now()}
	}
	if l == nil {
		l = &lease{name: req.Name, owner: req.Owner, granted: s.report.Now(), ttl: req.TTL, backend: b}
		l.linger = req.Linger > 0 && b.note != nil
		l.first, l.tokens = s.reserve(req)
		s.addLease(l)
	}
	l.expires = s.now() + req.TTL
	return driver.Grant{
		Name: req.Name, Owner: req.Owner, Mode: req.Mode, TTL: req.TTL, Token: l.first, Tokens: l.tokens,
		Recalled: l.linger,
	}, nil
}

// reserve gives out tokens. s.mu is held.
func (s *store) reserve(req *driver.Request) (first uint64, n int) {
	last := max(s.tokens[req.Name]+uint64(req.Tokens), uint64(max(s.now().Microseconds(), 0)))
	s.tokens[req.Name] = last
	return last - uint64(req.Tokens) + 1, req.Tokens
}

// addLease enters a new grant. s.mu is held.
func (s *store) addLease(l *lease) {
	client := l.backend.link.ID
	s.locks[l.name] = l
	s.judge.addGrant(l, client)
	s.report.Trace("store: %s to client %d as %s, token %d and %d more",
		l.name, client, short(l.owner), l.first, l.tokens-1)
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
		s.wakeWaiters(g.Name)
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
		passed, turn := s.passOn(l, client)
		if passed {
			return 0, nil
		}
		s.endLease(l, s.report.Now(), released)
		return s.wakeAfter(client, l, turn), nil
	}
	s.endStanding(g)
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
		l.notifyClient(driver.Taken)
	}
	s.tokens[name] += 2
	s.wakeWaiters(name)
	return l != nil
}

// wakeWaiters tells who listens. s.mu is held.
func (s *store) wakeWaiters(name string) {
	for w := range s.watches[name] {
		if w.twin == nil {
			w.push()
		}
	}
}

// wakeAfter is wakeWaiters after a release; if it is the turn of others, those who stand in line are told
// later. It returns how many clients besides one that are.
func (s *store) wakeAfter(client int, l *lease, turn bool) (others int) {
	clients := make(map[int]bool)
	for w := range s.watches[l.name] {
		switch {
		case w.twin != nil: // memlock tells it
		case turn && l.hasHeir(w.backend):
			time.AfterFunc(strangersLead, w.pushLater)
		default:
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
