package ledger

import "github.com/bedrock-go/bedrock/lock/driver"

// Renew makes the time of a grant run anew.
func (s *State) Renew(c *Clock, g *driver.Grant) error {
	s.prune(c)
	e := s.holderOf(g)
	if e == nil {
		return driver.ErrLost
	}
	until := c.endAfter(g.TTL)
	if until < e.Until {
		s.Wakes.All = true
		s.callFirst()
	}
	e.Until, s.Touched = until, c.Wall
	return nil
}

// Annotate has a grant show something else.
func (s *State) Annotate(c *Clock, g *driver.Grant, meta string) error {
	s.prune(c)
	e := s.holderOf(g)
	if e == nil {
		return driver.ErrLost
	}
	e.Meta = meta
	return nil
}

// Downgrade has a writer read from now on.
func (s *State) Downgrade(c *Clock, g *driver.Grant) error {
	s.prune(c)
	e := s.holderOf(g)
	if e == nil {
		return driver.ErrLost
	}
	if e.Mode == driver.Write {
		e.Mode = driver.Shared
		s.beginTurn(c)
		s.Wakes.All = true
	}
	return nil
}
