package ledger

import "github.com/bedrock-go/bedrock/lock/driver"

// prepareVote sees to what is asked of one of several stores, before it grants a lock or refuses it.
func (s *State) prepareVote(c *Clock, req *driver.Request) error {
	e := s.firstOf(Holder)
	switch {
	case e != nil && e.Owner != req.Owner: // it will be refused
	case e != nil && e.Token <= req.Above:
		s.Token = max(s.Token, req.Above)
		e.Token, e.Tokens = s.voteTokens(c, req.Tokens)
		s.Wakes.All = true // the life that is left may be shorter
	case e != nil:
	case c.Age < req.Age:
		return driver.ErrYoung
	default:
		s.Token = max(s.Token, req.Above)
	}
	return nil
}
