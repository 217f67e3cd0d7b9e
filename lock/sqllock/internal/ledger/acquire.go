package ledger

import "github.com/bedrock-go/bedrock/lock/driver"

// Acquire grants what is asked for, or says who is in the way.
func (s *State) Acquire(c *Clock, req *driver.Request, client string) (driver.Grant, error) {
	s.prune(c)
	if err := s.checkKind(req.Mode.Kind()); err != nil {
		return driver.Grant{}, err
	}
	switch {
	case req.Mode != driver.Exclusive:
		return s.joinCrowd(c, req, client)
	case req.Fair:
		return s.joinLine(c, req, client)
	case req.IsVote():
		if err := s.prepareVote(c, req); err != nil {
			return driver.Grant{}, err
		}
	}
	return s.grantFree(c, req, client)
}

// AcquireAll grants all that is asked for, each of the state beside it, if every lock is free, or the owner's. Else it
// changes nothing.
func AcquireAll(c *Clock, states []*State, reqs []driver.Request, client string) ([]driver.Grant, error) {
	for i := range reqs {
		states[i].prune(c)
		if err := states[i].checkKind(driver.Mutex); err != nil {
			return nil, err
		}
	}
	for i := range reqs {
		if refusal := states[i].refusalOf(c, &reqs[i]); refusal != nil {
			refusal.Name = reqs[i].Name
			return nil, refusal
		}
	}
	grants := make([]driver.Grant, len(reqs))
	for i := range reqs {
		grants[i] = states[i].admitOwner(c, &reqs[i], client)
	}
	return grants, nil
}

// RefusesPlainly reports whether a plain request for a mutex is refused, in a way that changes nothing: then nothing
// need be written for it.
func (s *State) RefusesPlainly(c *Clock, req *driver.Request) error {
	if req.Mode != driver.Exclusive || req.Fair || req.IsVote() {
		return nil
	}
	s.prune(c)
	if err := s.checkKind(driver.Mutex); err != nil {
		return err
	}
	if refusal := s.refusalOf(c, req); refusal != nil {
		return refusal
	}
	return nil
}

func (s *State) grantFree(c *Clock, req *driver.Request, client string) (driver.Grant, error) {
	if refusal := s.refusalOf(c, req); refusal != nil {
		return driver.Grant{}, refusal
	}
	return s.admitOwner(c, req, client), nil
}

// refusalOf says who has the mutex that is asked for; nil if it can be had.
func (s *State) refusalOf(c *Clock, req *driver.Request) *driver.HeldError {
	e := s.firstOf(Holder)
	if e == nil || e.Owner == req.Owner {
		return nil
	}
	return &driver.HeldError{Owner: e.Owner, TTL: c.timeLeft(e.Until)}
}

// admitOwner enters a holder, or lets the time of one run anew that is there: an earlier copy of the request was
// granted.
func (s *State) admitOwner(c *Clock, req *driver.Request, client string) driver.Grant {
	e := s.find(Holder, req.Owner)
	if e == nil {
		s.Entries = append(s.Entries, Entry{
			Role: Holder, Owner: req.Owner, Mode: req.Mode, Permits: req.Permits, Upgradeable: req.Upgradeable,
			Since: c.Wall, Meta: req.Meta, Client: client,
		})
		e = &s.Entries[len(s.Entries)-1]
		if req.Above > 0 {
			e.Token, e.Tokens = s.voteTokens(c, req.Tokens)
		} else {
			e.Token, e.Tokens = s.reserveTokens(c, req.Tokens)
		}
	}
	e.Until, s.Touched = c.endAfter(req.TTL), c.Wall
	g := req.Ungranted()
	g.Token, g.Tokens = e.Token, e.Tokens
	return g
}
