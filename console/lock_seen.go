package console

import (
	"cmp"
	"container/list"
	"slices"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// What is remembered of grants: some megabytes at most.
const (
	mostSeenNames = 2 * mostLocks
	mostSeenEach  = 20
)

// sameGrantWithin is how far apart two moments may be that are told of one grant: several stores have several clocks.
const sameGrantWithin = 10 * time.Second

// seenGrants remembers the grants that pages have shown. Nobody looks for its sake, so what came and went between two
// pages is not in it; no store keeps such a history, and to follow all locks would cost it more than it is worth.
type seenGrants struct {
	began time.Time

	mu     sync.Mutex
	byName map[string]*list.Element
	names  *list.List // of *seenName, in front the one that was shown last
}

type seenName struct {
	name   string
	grants []seenGrant // the one seen last is the first
}

// seenGrant is a grant that pages have shown.
type seenGrant struct {
	Owner, Process, Has string
	Since               time.Time
	Token               uint64 // the newest of the name when the grant was seen first
	First, Last         time.Time
}

func newSeenGrants(now time.Time) *seenGrants {
	return &seenGrants{began: now, byName: make(map[string]*list.Element), names: list.New()}
}

// addAll remembers who has locks.
func (s *seenGrants) addAll(found []lock.Info, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range found {
		if found[i].Held() {
			s.nameOf(found[i].Name).add(&found[i], now)
		}
	}
	for s.names.Len() > mostSeenNames {
		oldest, _ := s.names.Remove(s.names.Back()).(*seenName)
		delete(s.byName, oldest.name)
	}
}

// grantsOf returns what is remembered of a name, what was seen last first.
func (s *seenGrants) grantsOf(name string) []seenGrant {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.byName[name]; e != nil {
		n, _ := e.Value.(*seenName)
		return slices.Clone(n.grants)
	}
	return nil
}

func (s *seenGrants) nameOf(name string) *seenName {
	e := s.byName[name]
	if e == nil {
		e = s.names.PushFront(&seenName{name: name})
		s.byName[name] = e
	}
	s.names.MoveToFront(e)
	n, _ := e.Value.(*seenName)
	return n
}

// add remembers the newest holders of a lock.
func (n *seenName) add(i *lock.Info, now time.Time) {
	holders := i.Holders
	if len(holders) > mostSeenEach {
		holders = slices.Clone(holders)
		slices.SortFunc(holders, func(a, b lock.Holder) int { return b.Since.Compare(a.Since) })
		holders = holders[:mostSeenEach]
	}
	for at := range holders {
		g := seenGrant{
			Owner: driver.PublicOwner(holders[at].Owner), Process: processOf(holders[at].Meta), Has: holders[at].Has(),
			Since: holders[at].Since, Token: i.Token, First: now, Last: now,
		}
		if known := slices.IndexFunc(n.grants, g.isSame); known >= 0 {
			n.grants[known].Last = now
		} else {
			n.grants = append(n.grants, g)
		}
	}
	slices.SortStableFunc(n.grants, func(a, b seenGrant) int {
		return cmp.Or(b.Last.Compare(a.Last), b.First.Compare(a.First))
	})
	n.grants = n.grants[:min(len(n.grants), mostSeenEach)]
}

// isSame reports whether two grants are one. An owner that a program has chosen itself may come again.
func (g seenGrant) isSame(o seenGrant) bool {
	return g.Owner == o.Owner && g.Has == o.Has && g.Since.Sub(o.Since).Abs() < sameGrantWithin
}
