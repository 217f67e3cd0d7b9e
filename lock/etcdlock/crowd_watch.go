package etcdlock

import (
	"slices"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// step is what a transaction has changed of a crowd.
type step struct {
	came    []contender
	gone    []contender
	changed []contender // as they were before
}

// find returns where a key is, -1 if it is not there.
func (all crowd) find(key string) int {
	return slices.IndexFunc(all, func(c contender) bool { return c.key == key })
}

// replace enters a key, and returns what was there.
func (all *crowd) replace(c *contender) (before []contender) {
	if at := all.find(c.key); at >= 0 {
		before = append(before, (*all)[at])
		(*all)[at] = *c
		return before
	}
	*all = append(*all, *c) // it is the newest
	return nil
}

// serveCrowd tells those to ask who may come in by what has changed. l.mu is held.
func (l *line) serveCrowd(s *step) {
	for i := range s.gone {
		if s.gone[i].hasLock() {
			l.recordLoss(&s.gone[i])
		}
	}
	signals := map[driver.Kind]bool{driver.Latch: s.concernsLatch()}
	if l.opens(s) {
		signals[driver.Semaphore] = true
		signals[driver.ReadWrite] = l.letsOursIn()
	}
	for w := range l.watches {
		if signals[w.kind] {
			w.leaveSignal()
		}
	}
}

// letsOursIn reports whether somebody of this client may read or write now, as far as all who listen have places in
// the copy. Else who listens without one may. l.mu is held.
func (l *line) letsOursIn() bool {
	listening := 0
	for w := range l.watches {
		if w.kind == driver.ReadWrite {
			listening++
		}
	}
	reqs := l.b.grants.queuedFor(l.name)
	if len(reqs) < listening {
		return true
	}
	return slices.ContainsFunc(reqs, func(req driver.Request) bool {
		return l.others.placeOf(req.Owner) == nil || l.others.checkOver(&req) != nil || l.others.refusalOf(&req) == nil
	})
}

// opens reports whether somebody may come in by what has changed: somebody has gone, or writes no more. l.mu is held.
func (l *line) opens(s *step) bool {
	for i := range s.gone {
		if l.others.letsIn(&s.gone[i]) {
			return true
		}
	}
	for i := range s.changed {
		at := l.others.find(s.changed[i].key)
		if s.changed[i].word == writes && at >= 0 && l.others[at].word != writes {
			return true
		}
	}
	return false
}

// concernsLatch reports whether a latch is new, or open.
func (s *step) concernsLatch() bool {
	is := func(c contender) bool { return c.word == latch }
	return slices.ContainsFunc(s.gone, is) || slices.ContainsFunc(s.came, is) && !slices.ContainsFunc(s.changed, is)
}
