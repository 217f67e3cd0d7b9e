package memlock

import (
	"crypto/rand"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// StoreOptions configure a [Store]. The zero value and nil mean the defaults.
type StoreOptions struct {
	// Now is the store's clock, which may jump ahead: see [Store.Wake]. Defaults to
	// [time.Now].
	Now func() time.Time
}

// Store is the memory that several clients share, as they would share a server.
type Store struct {
	id      string // tells it from those of other processes, too, which may be behind servers
	clock   func() time.Time
	since   func(time.Time) time.Duration // by that clock
	started time.Time

	mu         sync.Mutex
	grants     map[string]grant
	crowds     map[string]*crowd
	lines      map[string][]*place // of fair locks, in order
	latches    latches
	full       int // how many grants there may be before those that have run out are looked for
	listeners  map[string]map[*watch]struct{}
	attendants attendants
	token      uint64 // the last one, of the whole store, so that a name needs no memory of its own
	released   recent
}

// recent remembers the owners of the last releases, so that a repeated release
// is recognised.
type recent struct {
	owners [256]string
	next   int
}

func (r *recent) add(owner string) {
	r.owners[r.next] = owner
	r.next = (r.next + 1) % len(r.owners)
}

func (r *recent) contains(owner string) bool { return slices.Contains(r.owners[:], owner) }

// grant is what the store has given away.
type grant struct {
	owner   string
	first   uint64 // token
	tokens  int
	since   time.Time
	expires time.Time
	meta    string
	linger  time.Duration
	backend *backend   // who has it
	heirs   []*stander // who may be granted it next, in order; never changed, but replaced
	passed  int        // how often in a row it was passed on
	passing time.Time  // since when
}

// NewStore returns an empty store.
func NewStore(opts *StoreOptions) *Store {
	clock, since := time.Now, time.Since // which asks for the monotonic time alone, at half the cost
	if opts != nil && opts.Now != nil {
		clock = opts.Now
		since = func(t time.Time) time.Duration { return clock().Sub(t) }
	}
	started := clock()
	return &Store{
		id:         strings.ToLower(rand.Text()),
		clock:      clock,
		since:      since,
		started:    started,
		token:      firstToken(started),
		grants:     make(map[string]grant),
		crowds:     make(map[string]*crowd),
		lines:      make(map[string][]*place),
		listeners:  make(map[string]map[*watch]struct{}),
		attendants: make(attendants),
	}
}

// Wake makes all who wait for a lock ask again: their holders' time may be over
// since the store's clock has jumped, and the waiters' own clocks know nothing of it.
func (s *Store) Wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range s.listeners {
		s.wakeListeners(name)
	}
}

// live returns the grant of name that has not run out. s.mu is held.
func (s *Store) live(name string) (grant, bool) {
	g, ok := s.grants[name]
	if ok && !s.clock().Before(g.expires) {
		delete(s.grants, name)
		return grant{}, false
	}
	return g, ok
}

func (s *Store) acquire(by *backend, req driver.Request) (driver.Grant, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.otherKind(req.Name, driver.Mutex); err != nil {
		return driver.Grant{}, err
	}
	if req.IsVote() {
		if err := s.prepareVote(&req); err != nil {
			return driver.Grant{}, err
		}
	}
	g, refusal := s.takeFree(by, req)
	if refusal != nil {
		return driver.Grant{}, refusal
	}
	return g, nil
}

// takeFree grants what is free. s.mu is held.
func (s *Store) takeFree(by *backend, req driver.Request) (driver.Grant, *driver.HeldError) {
	s.makeRoom()
	if refusal := s.refusalOf(&req); refusal != nil {
		return driver.Grant{}, refusal
	}
	g, held := s.live(req.Name)
	if !held {
		g = grant{owner: req.Owner, since: s.clock(), meta: req.Meta, backend: by}
		g.first, g.tokens = s.reserve(req.Tokens)
		if by.note != nil {
			g.linger = req.Linger
		}
	}
	g.expires = s.clock().Add(req.TTL)
	s.grants[req.Name] = g
	return driver.Grant{
		Name: req.Name, Owner: req.Owner, Mode: req.Mode, TTL: req.TTL, Token: g.first, Tokens: g.tokens,
		Recalled: g.linger > 0,
	}, nil
}

// refusalOf says who has the lock that is asked for, and tells it; nil if it can be had. s.mu is held.
func (s *Store) refusalOf(req *driver.Request) *driver.HeldError {
	g, held := s.live(req.Name)
	if !held || g.owner == req.Owner {
		return nil
	}
	if g.linger > 0 {
		g.notify(req.Name, driver.Wanted)
	}
	left := max(g.expires.Sub(s.clock()), 1) // its time may be over by now
	return &driver.HeldError{Owner: g.owner, TTL: left}
}

// notify tells who has the grant what others do.
func (g *grant) notify(name string, what driver.MessageKind) {
	g.backend.store.sendMessage(g, driver.Message{Name: name, Owner: g.owner, Kind: what})
}

// plead asks all who have the name to give it back, and returns how many could be told.
func (s *Store) plead(name string, p driver.Plea) (told int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*grant
	if g, held := s.live(name); held {
		all = append(all, &g)
	}
	if c := s.liveCrowd(name); c != nil {
		for _, m := range c.members {
			all = append(all, &m.grant)
		}
	}
	for _, g := range all {
		if s.sendMessage(g, driver.Message{Name: name, Owner: g.owner, Kind: driver.Asked, Plea: p}) {
			told++
		}
	}
	return told
}

// makeRoom forgets grants that have run out, for nobody may ever ask for their names
// again. It looks again when there are twice as many. s.mu is held.
func (s *Store) makeRoom() {
	if len(s.grants)+len(s.crowds)+len(s.lines) < s.full {
		return
	}
	now := s.clock()
	maps.DeleteFunc(s.grants, func(_ string, g grant) bool { return !now.Before(g.expires) })
	for name := range s.crowds {
		s.liveCrowd(name)
	}
	for name := range s.lines {
		s.livingLine(name)
	}
	s.full = 2*(len(s.grants)+len(s.crowds)+len(s.lines)) + 16
}

func (s *Store) renew(d driver.Grant) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d.Mode != driver.Exclusive {
		return s.renewMember(&d)
	}
	g, held := s.live(d.Name)
	if !held || g.owner != d.Owner {
		return driver.ErrLost
	}
	expires := s.clock().Add(d.TTL)
	shortened := expires.Before(g.expires)
	g.expires = expires
	s.grants[d.Name] = g
	if shortened {
		s.wakeListeners(d.Name)
		s.wakeFirst(d.Name)
	}
	return nil
}

// wakeListeners tells who listens to ask again. s.mu is held.
func (s *Store) wakeListeners(name string) {
	for w := range s.listeners[name] {
		w.signal()
	}
}

// release frees the name and returns how many other clients listen for that.
func (s *Store) release(by *backend, d driver.Grant) (listening int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d.Mode != driver.Exclusive {
		if s.leaveCrowd(d.Name, d.Owner) {
			s.released.add(d.Owner)
			return s.othersListening(by, d.Name), nil
		}
		return s.releasedBefore(d.Owner)
	}
	if g, held := s.live(d.Name); held && g.owner == d.Owner {
		s.released.add(d.Owner)
		return s.handOver(by, d.Name, g), nil
	}
	s.endStanding(d.Name, d.Owner)
	s.leaveLine(d.Name, d.Owner)
	return s.releasedBefore(d.Owner)
}

// handOver gives what was released to who waits for it: first those of the line, then who stands behind the holder,
// then whoever asks. Who stands behind it has tokens that are older than those of the line, and asks anew. s.mu is
// held.
func (s *Store) handOver(by *backend, name string, held grant) (listening int) {
	first, granted := s.serveLine(name)
	if granted {
		s.wakeSleepers(first.backend, name, held)
		return 0
	}
	turn := false
	if first == nil {
		if granted, turn = s.passOn(by, name, held); granted {
			return 0
		}
	}
	return s.free(by, name, turn)
}

// releasedBefore answers the release of what the owner does not have. s.mu is held.
func (s *Store) releasedBefore(owner string) (listening int, err error) {
	if s.released.contains(owner) {
		return 0, nil
	}
	return 0, driver.ErrLost
}

// free drops the grant and wakes who listens; those who stand in line a little later, if it is the
// turn of others. It returns how many of them are not by's. s.mu is held.
func (s *Store) free(by *backend, name string, turn bool) (others int) {
	heirs := s.grants[name].heirs
	delete(s.grants, name)
	for w := range s.listeners[name] {
		if turn && standingBy(w.backend, heirs) > 0 {
			time.AfterFunc(strangersLead, w.signal)
		} else {
			w.signal()
		}
	}
	return s.othersListening(by, name)
}

// othersListening returns how many listen for the release who are not by's. s.mu is held.
func (s *Store) othersListening(by *backend, name string) (others int) {
	for w := range s.listeners[name] {
		if w.backend != by {
			others++
		}
	}
	return others
}

func (s *Store) force(name string) (was bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.latches.counts[name] > 0 {
		return false, &driver.KindError{Found: driver.Latch, Wanted: driver.Mutex}
	}
	g, held := s.live(name)
	s.token++
	crowded := s.forceOut(name)
	if first, granted := s.serveLine(name); granted {
		s.wakeSleepers(first.backend, name, g)
	} else {
		s.free(nil, name, false)
	}
	if held {
		g.notify(name, driver.Taken)
	}
	return held || crowded, nil
}

func (s *Store) inspect(name string) driver.Info {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.describe(name)
}

// list describes the held locks with a prefix, in order of their names.
func (s *Store) list(prefix string, limit int) []driver.Info {
	s.mu.Lock()
	defer s.mu.Unlock()
	var infos []driver.Info
	names := slices.AppendSeq(slices.Collect(maps.Keys(s.grants)), maps.Keys(s.crowds))
	slices.Sort(names)
	for _, name := range names {
		if len(infos) == limit {
			break
		}
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		if info := s.describe(name); len(info.Holders) > 0 {
			infos = append(infos, info)
		}
	}
	return infos
}

// describe returns what is known of name. s.mu is held.
func (s *Store) describe(name string) driver.Info {
	info := driver.Info{Name: name, Token: s.token, Line: s.describeLine(name)}
	if g, held := s.live(name); held { // who listens to a free lock does not wait for it
		info.Waiting = len(s.listeners[name])
		left := g.expires.Sub(s.clock())
		info.Holders = []driver.Holder{{Owner: g.owner, Since: g.since, TTL: left, Linger: g.linger, Meta: g.meta}}
		info.Token = g.first + uint64(g.tokens) - 1
	}
	if c := s.liveCrowd(name); c != nil && len(c.members) > 0 {
		info.Waiting = len(s.listeners[name])
		c.describe(&info, s.clock())
	}
	info.Waiting += s.clientsInLine(name)
	return info
}
