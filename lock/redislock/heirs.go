package redislock

import (
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// heirs are the requests that stand in line: of this client, or of those it acts for. Guarded by hub.mu.
type heirs struct {
	hub      *hub
	tell     func(driver.Grant)
	standing map[string]map[string]*heir // by client, and owner
	stand    atomic.Int32                // how many stand
	requests atomic.Uint64               // how many were made, by which they are known
	passed   passings                    // of those it acts for
	strange  map[string]*strangers       // by channel
	met      atomic.Bool                 // there were some
}

// heir is a request that stands.
type heir struct {
	request string       // the number of the one by which it has joined the line
	grant   driver.Grant // what it would be granted; no tokens if the answer to that is not known
	handle  *handle
}

// passing is how a lock was passed on.
type passing struct {
	times  int           // in a row
	age    time.Duration // since the first of them, when it was
	others int           // in line at most
	here   int           // of them those who listen for releases by this client's connection
	heard  time.Time
}

const (
	longestClaim  = 5 * time.Second        // see claimText, too
	renewedBy     = 200 * time.Millisecond // who has a lock for less has not renewed it: see package lock
	shortestLease = time.Second            // that is worth standing for
)

func newHeirs(h *hub) *heirs {
	h.heirs = &heirs{
		hub: h, tell: func(driver.Grant) {},
		standing: make(map[string]map[string]*heir), strange: make(map[string]*strangers),
		passed: newPassings(),
	}
	return h.heirs
}

// claimOf is how long a request stands, and how long what it is granted lives at first.
func claimOf(lease time.Duration) time.Duration { return min(lease, longestClaim) }

// add enters a request that stands. What was reserved for it when it joined the line is told by the answer to
// the request by which it did.
func (s *heirs) add(h *heir) {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	client := driver.ClientOf(h.grant.Owner)
	if s.standing[client] == nil {
		s.standing[client] = make(map[string]*heir, 1)
	}
	before := s.standing[client][h.grant.Owner]
	if before == nil {
		s.stand.Add(1)
		s.passed.joinHere(h.handle.keys.channel)
	} else if h.grant.Tokens == 0 {
		h.request, h.grant.Token, h.grant.Tokens = before.request, before.grant.Token, before.grant.Tokens
	}
	s.standing[client][h.grant.Owner] = h
}

// endStanding ends the standing of an owner, and returns it; nil if it does not stand.
func (s *heirs) endStanding(owner string) *heir {
	if s == nil || s.stand.Load() == 0 {
		return nil
	}
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	return s.remove(owner)
}

// remove is endStanding for who has hub.mu.
func (s *heirs) remove(owner string) *heir {
	client := driver.ClientOf(owner)
	h := s.standing[client][owner]
	if h == nil {
		return nil
	}
	if delete(s.standing[client], owner); len(s.standing[client]) == 0 {
		delete(s.standing, client)
	}
	s.stand.Add(-1)
	s.passed.leaveHere(h.handle.keys.channel)
	return h
}

// removeClient forgets a client that this one does not act for any more. hub.mu is held.
func (s *heirs) removeClient(client string) {
	if s == nil {
		return
	}
	for owner := range s.standing[client] {
		s.remove(owner)
	}
}

// hearGrant is told what a client was granted. hub.mu is held.
func (s *heirs) hearGrant(to *inbox, text string) {
	if s == nil {
		return
	}
	owner, request, name, how, ok := readPassing(text)
	if !ok {
		return
	}
	grant := driver.Grant{Name: name, Owner: to.client + owner}
	if h := s.standing[driver.ClientOf(grant.Owner)][grant.Owner]; h != nil && h.request == request &&
		h.grant.Name == name {
		if to.shared {
			s.passed.enterPassing(h, how)
		}
		s.remove(grant.Owner)
		h.handle.passed = how
		grant = h.grant
	}
	s.tell(grant)
}

// missGrants makes all ask who are told there. Of a client that this one acts for, each is named: it is told to
// nobody else. hub.mu is held.
func (s *heirs) missGrants(to *inbox) {
	if s == nil {
		return
	}
	for owner, h := range s.standing[strings.TrimSuffix(to.client, ":")] {
		if !to.shared {
			owner = ""
		}
		s.tell(driver.Grant{Name: h.grant.Name, Owner: owner})
	}
}

// readPassing reads what a client is told of a grant: to which of its owners, by which request, how the lock
// was passed on by then, and the lock's name.
func readPassing(text string) (owner, request, name string, how *passing, ok bool) {
	word := strings.SplitN(text, " ", 7)
	if len(word) != 7 || word[0] != "granted" {
		return "", "", "", nil, false
	}
	var numbers [3]int
	for i := range numbers {
		var err error
		if numbers[i], err = strconv.Atoi(word[3+i]); err != nil {
			return "", "", "", nil, false
		}
	}
	how = &passing{
		times: numbers[0], age: time.Duration(numbers[1]) * time.Microsecond, others: numbers[2], heard: time.Now(),
	}
	return word[1], word[2], word[6], how, true
}

// describe says in the words of release.lua how the lock was had, when so many of this client's connections
// listen for its release, less the clients beside it that listen by them. Strangers who rest have their turn by the
// clock alone.
func (p *passing) describe(listening int, resting bool) string {
	times := p.times
	if resting {
		times = 0
	}
	held, long := time.Since(p.heard), 0
	if held >= renewedBy {
		long = 1
	}
	return fmt.Sprintf("%d %d %d %d %d", times, (p.age + held).Microseconds(), p.others, listening, long)
}
