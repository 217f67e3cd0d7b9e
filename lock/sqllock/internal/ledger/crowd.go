package ledger

import (
	"slices"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

const (
	// writerClaim is for how long a writer's wait keeps readers off, unless it asks again.
	writerClaim = 5 * time.Second
	// readersTurn is for how long the readers who wait go first after a writer.
	readersTurn = 100 * time.Millisecond
)

// joinCrowd grants a place among those who have a name that several may have at once.
func (s *State) joinCrowd(c *Clock, req *driver.Request, client string) (driver.Grant, error) {
	if s.find(Holder, req.Owner) != nil {
		return s.admitOwner(c, req, client), nil
	}
	if err := s.checkOver(req); err != nil {
		return driver.Grant{}, err
	}
	if s.firstOf(Holder) != nil && req.Limit > s.Limit {
		s.Wakes.All = true
	}
	s.Limit = req.Limit
	if refusal := s.refusalInCrowd(c, req); refusal != nil {
		return driver.Grant{}, refusal
	}
	s.removeEntry(Writer, req.Owner)
	s.forgetReader(req.Owner)
	return s.admitOwner(c, req, client), nil
}

// checkOver refuses a request over a grant that is not there.
func (s *State) checkOver(req *driver.Request) error {
	if req.Over == "" {
		return nil
	}
	e := s.find(Holder, req.Over)
	if e != nil && (req.Mode == driver.Write && e.Upgradeable || req.Mode == driver.Shared && e.Mode == driver.Write) {
		return nil
	}
	return driver.ErrBelow
}

// refusalInCrowd says who is in the way of a request; nil if nobody is.
func (s *State) refusalInCrowd(c *Clock, req *driver.Request) *driver.HeldError {
	var refusal *driver.HeldError
	taken := 0
	for _, e := range s.holders() {
		taken += e.Permits
		if !e.inTheWayOf(req) {
			continue
		}
		left := c.timeLeft(e.Until)
		if refusal == nil || (left < refusal.TTL) == (req.Mode == driver.Permit) {
			refusal = &driver.HeldError{Owner: e.Owner, TTL: left}
		}
	}
	if req.Mode == driver.Permit && taken+req.Permits <= req.Limit {
		return nil
	}
	if refusal == nil && req.Over == "" {
		refusal = s.whoGoesFirst(c, req)
	}
	if refusal != nil && req.Waits {
		s.recordWaiting(c, req, refusal)
	}
	return refusal
}

// inTheWayOf reports whether the request has to wait for the holder, or may have to.
func (e *Entry) inTheWayOf(req *driver.Request) bool {
	switch {
	case e.Owner == req.Over:
		return false
	case req.Mode == driver.Shared:
		return e.Mode == driver.Write || req.Upgradeable && e.Upgradeable
	default:
		return true
	}
}

// whoGoesFirst refuses who comes before somebody that only waits.
func (s *State) whoGoesFirst(c *Clock, req *driver.Request) *driver.HeldError {
	first := s.firstOf(Writer)
	if req.Mode == driver.Write {
		first = s.firstOf(InTurn)
	}
	if first == nil || s.find(InTurn, req.Owner) != nil {
		return nil
	}
	return &driver.HeldError{Owner: first.Owner, TTL: c.timeLeft(first.Until), Waits: true}
}

// recordWaiting records that somebody waits who was refused. A writer keeps later readers off, unless another one does
// so already. Who waits for permits does the same among its like.
func (s *State) recordWaiting(c *Clock, req *driver.Request, refusal *driver.HeldError) {
	if req.Mode == driver.Shared {
		if e := s.find(Holder, refusal.Owner); e == nil || e.Mode == driver.Write {
			s.putWaiting(Reader, req, c, c.endAfter(refusal.TTL))
		}
		return
	}
	if w := s.firstOf(Writer); w != nil && w.Owner != req.Owner {
		refusal.Again = max(time.Duration(w.Until-c.Now)*time.Microsecond, readersTurn)
		return
	}
	s.putWaiting(Writer, req, c, c.endAfter(writerClaim))
	refusal.Again = writerClaim
}

func (s *State) putWaiting(role Role, req *driver.Request, c *Clock, until int64) {
	e := s.find(role, req.Owner)
	if e == nil {
		s.Entries = append(s.Entries, Entry{
			Role: role, Owner: req.Owner, Mode: req.Mode, Since: c.Wall, Meta: req.Meta,
		})
		e = &s.Entries[len(s.Entries)-1]
	}
	e.Until = until
}

// forgetReader forgets a reader who waits no more. It reports whether the turn is over by it.
func (s *State) forgetReader(owner string) bool {
	s.removeEntry(Reader, owner)
	return s.removeEntry(InTurn, owner) && s.firstOf(InTurn) == nil
}

// beginTurn gives the readers who wait their turn.
func (s *State) beginTurn(c *Clock) {
	if s.firstOf(Reader) == nil {
		return
	}
	s.remove(func(e *Entry) bool { return e.Role == InTurn })
	for i := range s.Entries {
		if e := &s.Entries[i]; e.Role == Reader {
			e.Role, e.Until = InTurn, c.endAfter(readersTurn)
		}
	}
}

// leaveCrowd ends what somebody has among others.
func (s *State) leaveCrowd(c *Clock, gone Entry) {
	s.removeEntry(Holder, gone.Owner)
	if gone.Mode == driver.Write && !s.writerIsNext() {
		s.beginTurn(c)
	}
	if s.letsIn(&gone) {
		s.Wakes.All = true
	}
}

// writerIsNext reports whether a writer who waits comes next, rather than the readers who do: after one who has written
// over its upgradeable read and reads on. Else those who upgrade in turn would let each other in, as readers who have
// waited, and nobody else.
func (s *State) writerIsNext() bool {
	return s.firstOf(Writer) != nil && slices.ContainsFunc(s.holders(), func(e *Entry) bool { return e.Upgradeable })
}

// letsIn reports whether somebody may come in since that holder has gone.
func (s *State) letsIn(gone *Entry) bool {
	rest := s.holders()
	return gone.Mode != driver.Shared || gone.Upgradeable || len(rest) == 0 || len(rest) == 1 && rest[0].Upgradeable
}

// withdrawWait takes back what an owner has by waiting.
func (s *State) withdrawWait(owner string) {
	freed := s.forgetReader(owner)
	if s.removeEntry(Writer, owner) || freed {
		s.Wakes.All = true
	}
}
