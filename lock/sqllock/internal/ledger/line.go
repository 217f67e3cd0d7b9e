package ledger

import (
	"slices"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// longestPlace is for how long a place in line is kept without asking again, at most.
const longestPlace = 5 * time.Second

func placeKept(req *driver.Request) time.Duration { return min(req.TTL, longestPlace) }

// places returns who waits for a fair lock, in order.
func (s *State) places() []*Entry {
	var line []*Entry
	for i := range s.Entries {
		if e := &s.Entries[i]; e.Role == InLine {
			line = append(line, e)
		}
	}
	slices.SortFunc(line, func(a, b *Entry) int { return int(a.Place - b.Place) })
	return line
}

// joinLine grants what is free to whose turn it is, and gives everybody else who waits a place in line.
func (s *State) joinLine(c *Clock, req *driver.Request, client string) (driver.Grant, error) {
	refusal := s.refusalInLine(c, req)
	if refusal == nil {
		refusal = s.refusalOf(c, req)
	}
	if refusal == nil {
		s.removeEntry(InLine, req.Owner)
		return s.admitOwner(c, req, client), nil
	}
	if req.Waits {
		s.keepPlace(c, req, refusal)
	}
	return driver.Grant{}, refusal
}

// refusalInLine refuses a request for a free lock while another one is first in line; nil if that is not so. Nobody
// tells the line that a holder's time is over, so whoever asks then does.
func (s *State) refusalInLine(c *Clock, req *driver.Request) *driver.HeldError {
	line := s.places()
	if len(line) == 0 || line[0].Owner == req.Owner || s.firstOf(Holder) != nil {
		return nil
	}
	s.Wakes.Turn = line[0].Owner
	return &driver.HeldError{Owner: line[0].Owner, TTL: c.timeLeft(line[0].Until), Waits: true}
}

// keepPlace gives somebody who was refused a place at the end of the line, or lets it keep the one it has.
func (s *State) keepPlace(c *Clock, req *driver.Request, refusal *driver.HeldError) {
	e := s.find(InLine, req.Owner)
	if e == nil {
		after := int64(1)
		if line := s.places(); len(line) > 0 {
			after = line[len(line)-1].Place + 1
		}
		s.Entries = append(s.Entries, Entry{
			Role: InLine, Owner: req.Owner, Since: c.Wall, Place: after, Meta: req.Meta,
		})
		e = &s.Entries[len(s.Entries)-1]
	}
	e.Until = c.endAfter(placeKept(req))
	at := slices.IndexFunc(s.places(), func(p *Entry) bool { return p.Owner == req.Owner })
	refusal.Place, refusal.Again, refusal.Token, refusal.Listen = at+1, placeKept(req), s.Token, true
}

// callFirst tells the first in line that it is its turn. It goes on being first until it has asked, or its time is
// over.
func (s *State) callFirst() {
	if line := s.places(); len(line) > 0 {
		s.Wakes.Turn = line[0].Owner
	}
}

// leaveLine takes somebody out of the line who does not want the lock any more. If it was its turn, it is that of the
// next one now.
func (s *State) leaveLine(owner string) {
	line := s.places()
	if len(line) == 0 || !slices.ContainsFunc(line, func(p *Entry) bool { return p.Owner == owner }) {
		return
	}
	wasFirst := line[0].Owner == owner
	s.removeEntry(InLine, owner)
	if wasFirst && s.firstOf(Holder) == nil && s.Count == 0 {
		s.callFirst()
	}
}
