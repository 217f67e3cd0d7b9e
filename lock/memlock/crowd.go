package memlock

import (
	"fmt"
	"slices"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// crowd is what is given away of a name that several may have at once: a read-write lock, or a
// semaphore.
type crowd struct {
	kind    driver.Kind
	members []*member
	limit   int // of a semaphore: the one asked for last
	writer  claim
	readers time.Time // until when some are known to wait
}

// member is one of those who have the name.
type member struct {
	grant

	mode        driver.Mode
	permits     int
	upgradeable bool
}

// claim is that of a writer who waits: readers who come now are kept off. After a writer there is one of the
// readers who waited for it: no writer keeps them off again before they have come.
type claim struct {
	owner   string
	expires time.Time
}

const (
	// writerClaim is for how long a writer's wait keeps readers off, unless it asks again.
	writerClaim = 5 * time.Second
	// readersGo is for how long the readers who wait have a claim after a writer.
	readersGo = 100 * time.Millisecond
	// ofReaders is its owner.
	ofReaders = "-"
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
	if len(c.members) == 0 && c.writer.owner == "" {
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
	return fmt.Errorf("%w: what it is to go over is not there", driver.ErrRefused)
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
	switch {
	case req.Mode == driver.Permit && taken+req.Permits <= req.Limit:
		return nil
	case refusal == nil && req.Mode == driver.Shared && req.Over == "" && c.writer.keepsReadersOff():
		refusal = &driver.HeldError{Owner: c.writer.owner, TTL: max(c.writer.expires.Sub(now), 1), Waits: true}
	}
	if refusal != nil && req.Waits {
		c.recordWaiting(req, refusal, now)
	}
	return refusal
}

func (c *claim) keepsReadersOff() bool { return c.owner != "" && c.owner != ofReaders }

// recordWaiting records that somebody waits who was refused. A writer keeps later readers off, unless
// another one does so already; readers have their go after the next writer.
func (c *crowd) recordWaiting(req *driver.Request, refusal *driver.HeldError, now time.Time) {
	switch {
	case req.Mode == driver.Shared:
		c.readers = later(c.readers, now.Add(refusal.TTL))
	case req.Mode != driver.Write:
	case c.writer.owner == "" || c.writer.owner == req.Owner:
		c.writer = claim{owner: req.Owner, expires: now.Add(writerClaim)}
		refusal.Again = writerClaim
	default:
		refusal.Again = readersGo
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
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
		if c.writer.owner == owner {
			c.writer = claim{}
			s.wakeListeners(name)
		}
		s.liveCrowd(name)
		return false
	}
	c.members = slices.DeleteFunc(c.members, func(o *member) bool { return o == m })
	if m.mode == driver.Write {
		c.giveReadersTheirGo(s.clock())
	}
	if c.letsIn(m) {
		s.wakeListeners(name)
	}
	s.liveCrowd(name)
	return true
}

// giveReadersTheirGo lets the readers who wait come before the next writer keeps them off.
func (c *crowd) giveReadersTheirGo(now time.Time) {
	c.writer = claim{}
	if c.readers.After(now) {
		c.writer = claim{owner: ofReaders, expires: now.Add(readersGo)}
	}
	c.readers = time.Time{}
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
