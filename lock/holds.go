package lock

import "github.com/bedrock-go/bedrock/lock/driver"

// holds are the grants of one name that are in the hands of this process: one at most in
// mode Exclusive. They are linked through hold.beside, so that they cost no memory of their
// own. Guarded by part.mu.
type holds struct{ first *hold }

func (s *holds) add(h *hold) { h.beside, s.first = s.first, h }

// ofOwner returns that owner's; nil if it has none.
func (s *holds) ofOwner(owner string) *hold {
	for h := s.first; h != nil; h = h.beside {
		if h.grant.Owner == owner {
			return h
		}
	}
	return nil
}

// seenAs returns that of an owner as others see it, which may be a hash; nil if it has none.
func (s *holds) seenAs(owner string) *hold {
	if _, told := process(owner); told {
		return s.ofOwner(owner)
	}
	for h := s.first; h != nil; h = h.beside {
		if driver.PublicOwner(h.grant.Owner) == owner {
			return h
		}
	}
	return nil
}

// remove takes h out, if it is there.
func (s *holds) remove(h *hold) {
	for at := &s.first; *at != nil; at = &(*at).beside {
		if *at == h {
			*at, h.beside = h.beside, nil
			return
		}
	}
}
