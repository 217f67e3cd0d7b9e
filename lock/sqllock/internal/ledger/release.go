package ledger

import (
	"slices"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// Release ends what the owner of a grant has, or waits for.
func (s *State) Release(c *Clock, g *driver.Grant) error {
	s.prune(c)
	e := s.holderOf(g)
	if e == nil {
		s.withdrawWait(g.Owner)
		s.leaveLine(g.Owner)
		if slices.Contains(s.Freed, g.Owner) {
			return nil
		}
		return driver.ErrLost
	}
	s.Touched = c.Wall
	s.rememberFreed(g.Owner)
	if e.Mode != driver.Exclusive {
		s.leaveCrowd(c, *e)
		return nil
	}
	s.endMutex(c, g.Owner)
	return nil
}

func (s *State) rememberFreed(owner string) {
	s.Freed = slices.Insert(slices.Clone(s.Freed), 0, owner)
	s.Freed = s.Freed[:min(len(s.Freed), maxFreed)]
}

// Force takes the name from all who have it, and raises its token. It reports whether somebody had it.
func (s *State) Force(c *Clock) (was bool, err error) {
	s.prune(c)
	if s.Count > 0 {
		return false, &driver.KindError{Found: driver.Latch, Wanted: driver.Mutex}
	}
	was = s.firstOf(Holder) != nil
	s.Touched = c.Wall
	s.Token++
	s.remove(func(e *Entry) bool { return e.Role != InLine && e.Role != Answer })
	s.callFirst()
	s.Wakes.All = true
	return was, nil
}

// FreeDead frees what a process has that has died. It has released nothing, so none of its owners is remembered.
func (s *State) FreeDead(c *Clock, client string) {
	s.prune(c)
	for _, e := range slices.Clone(s.Entries) {
		switch {
		case e.Role != Holder || e.Client != client:
		case e.Mode == driver.Exclusive:
			s.endMutex(c, e.Owner)
		default:
			s.Touched = c.Wall
			s.leaveCrowd(c, e)
		}
	}
}

func (s *State) endMutex(c *Clock, owner string) {
	s.Touched = c.Wall
	s.removeEntry(Holder, owner)
	s.callFirst()
	s.Wakes.All = true
}
