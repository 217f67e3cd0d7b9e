package memlock

import (
	"maps"
	"slices"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// crowd is what is given away of a name that several may have at once: a read-write lock, or a
// semaphore.
type crowd struct {
	kind    driver.Kind
	members []*member
	limit   int   // of a semaphore: the one asked for last
	writer  claim // of the one who waits
	readers readers
}

// member is one of those who have the name.
type member struct {
	grant

	mode        driver.Mode
	permits     int
	upgradeable bool
}

// claim is that of a writer who waits: readers who come now are kept off.
type claim struct {
	owner   string
	expires time.Time
}

// readers are those who wait, by their owners, each until when that is known; and those of them whose turn it is
// after a writer, before the next one.
type readers struct {
	waiting map[string]time.Time
	turn    map[string]time.Time
	ends    time.Time // of the turn
}

const (
	// writerClaim is for how long a writer's wait keeps readers off, unless it asks again.
	writerClaim = 5 * time.Second
	// readersTurn is for how long the readers who wait go first after a writer.
	readersTurn = 100 * time.Millisecond
)

// liveCrowd returns what is given away of a name, without those whose time is over; nil if that
// is nothing. s.mu is held.
func (s *Store) liveCrowd(name string) *crowd {
	c := s.crowds[name]
	if c == nil {
		return nil
	}
	now := s.clock()
	c.members = slices.DeleteFunc(c.members, func(m *member) bool { return !now.Before(m.expires) })
	if !now.Before(c.writer.expires) {
		c.writer = claim{}
	}
	if !now.Before(c.readers.ends) {
		c.readers.turn = nil
	}
	if len(c.members) == 0 && c.writer.owner == "" && len(c.readers.turn) == 0 {
		delete(s.crowds, name)
		return nil
	}
	return c
}

// otherKind refuses a name that somebody has as a lock of another kind. s.mu is held.
func (s *Store) otherKind(name string, wanted driver.Kind) error {
	if wanted != driver.Mutex {
		if _, held := s.live(name); held {
			return &driver.KindError{Found: driver.Mutex, Wanted: wanted}
		}
	}
	if wanted != driver.Latch && s.latches.counts[name] > 0 {
		return &driver.KindError{Found: driver.Latch, Wanted: wanted}
	}
	if c := s.liveCrowd(name); c != nil && c.kind != wanted {
		if len(c.members) > 0 {
			return &driver.KindError{Found: c.kind, Wanted: wanted}
		}
		delete(s.crowds, name)
	}
	return nil
}

// joinCrowd grants a place in the crowd of a name.
func (s *Store) joinCrowd(by *backend, req *driver.Request) (driver.Grant, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.otherKind(req.Name, req.Mode.Kind()); err != nil {
		return driver.Grant{}, err
	}
	c := s.liveCrowd(req.Name)
	if c == nil {
		c = &crowd{kind: req.Mode.Kind(), limit: req.Limit}
	}
	if m := c.ofOwner(req.Owner); m != nil { // an earlier copy of this request was granted
		m.expires = s.clock().Add(req.TTL)
		return m.grantOf(req), nil
	}
	if err := c.checkOver(req); err != nil {
		return driver.Grant{}, err
	}
	if req.Limit > c.limit {
		s.wakeListeners(req.Name)
	}
	c.limit = req.Limit
	if refusal := c.refusalOf(req, s.clock()); refusal != nil {
		if len(c.members) > 0 || c.writer.owner != "" {
			s.crowds[req.Name] = c
		}
		return driver.Grant{}, refusal
	}
	return s.admit(by, c, req), nil
}

// admit enters a new member. s.mu is held.
func (s *Store) admit(by *backend, c *crowd, req *driver.Request) driver.Grant {
	s.makeRoom()
	m := &member{
		grant:       grant{owner: req.Owner, since: s.clock(), meta: req.Meta, backend: by},
		mode:        req.Mode,
		permits:     req.Permits,
		upgradeable: req.Upgradeable,
	}
	m.expires = m.since.Add(req.TTL)
	m.first, m.tokens = s.reserve(req.Tokens)
	c.members = append(c.members, m)
	if c.writer.owner == req.Owner {
		c.writer = claim{}
	}
	c.readers.forgetReader(req.Owner)
	s.crowds[req.Name] = c
	return m.grantOf(req)
}

// grantOf returns what the member has.
func (m *member) grantOf(req *driver.Request) driver.Grant {
	g := req.Ungranted()
	g.Token, g.Tokens = m.first, m.tokens
	return g
}

func (c *crowd) ofOwner(owner string) *member {
	at := slices.IndexFunc(c.members, func(m *member) bool { return m.owner == owner })
	if at < 0 {
		return nil
	}
	return c.members[at]
}

// checkOver refuses a request over a grant that is not there.
func (c *crowd) checkOver(req *driver.Request) error {
	if req.Over == "" {
		return nil
	}
	m := c.ofOwner(req.Over)
	if m != nil && (req.Mode == driver.Write && m.upgradeable || req.Mode == driver.Shared && m.mode == driver.Write) {
		return nil
	}
	return driver.ErrBelow
}

// refusalOf says who is in the way of a request; nil if nobody is.
func (c *crowd) refusalOf(req *driver.Request, now time.Time) *driver.HeldError {
	var refusal *driver.HeldError
	taken := 0
	for _, m := range c.members {
		taken += m.permits
		if !m.inTheWayOf(req) {
			continue
		}
		left := max(m.expires.Sub(now), 1)
		if refusal == nil || (left < refusal.TTL) == (req.Mode == driver.Permit) {
			refusal = &driver.HeldError{Owner: m.owner, TTL: left}
		}
	}
	if req.Mode == driver.Permit && taken+req.Permits <= req.Limit {
		return nil
	}
	if refusal == nil && req.Over == "" {
		refusal = c.whoGoesFirst(req, now)
	}
	if refusal != nil && req.Waits {
		c.recordWaiting(req, refusal, now)
	}
	return refusal
}

// whoGoesFirst refuses who comes before somebody that only waits.
func (c *crowd) whoGoesFirst(req *driver.Request, now time.Time) *driver.HeldError {
	first, ends := c.writer.owner, c.writer.expires
	if req.Mode == driver.Write {
		first, ends = c.readers.someoneInTurn(), c.readers.ends
	}
	if _, inTurn := c.readers.turn[req.Owner]; first == "" || inTurn {
		return nil
	}
	return &driver.HeldError{Owner: first, TTL: max(ends.Sub(now), 1), Waits: true}
}

func (r *readers) someoneInTurn() string {
	for owner := range r.turn {
		return owner
	}
	return ""
}

// recordWaiting records that somebody waits who was refused. A writer keeps later readers off, unless
// another one does so already.
func (c *crowd) recordWaiting(req *driver.Request, refusal *driver.HeldError, now time.Time) {
	switch {
	case req.Mode == driver.Shared:
		if m := c.ofOwner(refusal.Owner); m == nil || m.mode == driver.Write {
			c.readers.recordWaiting(req.Owner, now.Add(refusal.TTL))
		}
	case c.writer.owner == "" || c.writer.owner == req.Owner:
		c.writer = claim{owner: req.Owner, expires: now.Add(writerClaim)}
		refusal.Again = writerClaim
	default:
		refusal.Again = max(c.writer.expires.Sub(now), readersTurn)
	}
}

func (r *readers) recordWaiting(owner string, until time.Time) {
	if r.waiting == nil {
		r.waiting = make(map[string]time.Time)
	}
	r.waiting[owner] = until
}

// forgetReader forgets a reader who waits no more. It reports whether the turn is over by it.
func (r *readers) forgetReader(owner string) bool {
	delete(r.waiting, owner)
	_, inTurn := r.turn[owner]
	delete(r.turn, owner)
	return inTurn && len(r.turn) == 0
}

// beginTurn gives those who wait their turn.
func (r *readers) beginTurn(now time.Time) {
	maps.DeleteFunc(r.waiting, func(_ string, until time.Time) bool { return !until.After(now) })
	if len(r.waiting) > 0 {
		r.turn, r.waiting, r.ends = r.waiting, nil, now.Add(readersTurn)
	}
}

// inTheWayOf reports whether the request has to wait for the member, or may have to.
func (m *member) inTheWayOf(req *driver.Request) bool {
	switch {
	case m.owner == req.Over:
		return false
	case req.Mode == driver.Shared:
		return m.mode == driver.Write || req.Upgradeable && m.upgradeable
	default:
		return true
	}
}

// leaveCrowd takes an owner out of the crowd of a name. It reports whether it was there. s.mu is held.
func (s *Store) leaveCrowd(name, owner string) bool {
	c := s.liveCrowd(name)
	if c == nil {
		return false
	}
	m := c.ofOwner(owner)
	if m == nil {
		s.withdrawWait(c, name, owner)
		return false
	}
	c.members = slices.DeleteFunc(c.members, func(o *member) bool { return o == m })
	if m.mode == driver.Write && !c.writerIsNext() {
		c.readers.beginTurn(s.clock())
	}
	if c.letsIn(m) {
		s.wakeListeners(name)
	}
	s.liveCrowd(name)
	return true
}

// writerIsNext reports whether a writer who waits comes next, rather than the readers who do: after one who has written
// over its upgradeable read and reads on. Else those who upgrade in turn would let each other in, as readers who have
// waited, and nobody else.
func (c *crowd) writerIsNext() bool {
	return c.writer.owner != "" && slices.ContainsFunc(c.members, func(m *member) bool { return m.upgradeable })
}

// withdrawWait takes back what an owner has by waiting. s.mu is held.
func (s *Store) withdrawWait(c *crowd, name, owner string) {
	freed := c.readers.forgetReader(owner)
	if c.writer.owner == owner {
		c.writer, freed = claim{}, true
	}
	if freed {
		s.wakeListeners(name)
	}
	s.liveCrowd(name)
}

// letsIn reports whether somebody may come in since that member has gone.
func (c *crowd) letsIn(gone *member) bool {
	return gone.mode != driver.Shared || gone.upgradeable || len(c.members) == 0 ||
		len(c.members) == 1 && c.members[0].upgradeable
}

// renewMember makes the time of a member run anew. s.mu is held.
func (s *Store) renewMember(d *driver.Grant) error {
	c := s.liveCrowd(d.Name)
	if c == nil {
		return driver.ErrLost
	}
	m := c.ofOwner(d.Owner)
	if m == nil {
		return driver.ErrLost
	}
	expires := s.clock().Add(d.TTL)
	shortened := expires.Before(m.expires)
	m.expires = expires
	if shortened {
		s.wakeListeners(d.Name)
	}
	return nil
}

// forceOut takes the name from all who have it, and reports whether somebody had. s.mu is held.
func (s *Store) forceOut(name string) bool {
	c := s.liveCrowd(name)
	if c == nil {
		return false
	}
	delete(s.crowds, name)
	for _, m := range c.members {
		m.notify(name, driver.Taken)
	}
	return len(c.members) > 0
}

// describe adds what is known of the crowd. s.mu is held.
func (c *crowd) describe(info *driver.Info, now time.Time) {
	if len(c.members) == 0 {
		return
	}
	info.Kind, info.Limit = c.kind, c.limit
	for _, m := range c.members {
		info.Holders = append(info.Holders, driver.Holder{
			Owner: m.owner, Mode: m.mode, Permits: m.permits, Upgradeable: m.upgradeable,
			Since: m.since, TTL: m.expires.Sub(now), Meta: m.meta,
		})
		info.Token = max(info.Token, m.first+uint64(m.tokens)-1)
	}
}
