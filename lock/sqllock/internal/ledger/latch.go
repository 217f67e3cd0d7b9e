package ledger

import (
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// AnswersKept is for how long a repeated call is recognised.
const AnswersKept = time.Minute

// SetLatch gives a latch its count if it has none, and reports that.
func (s *State) SetLatch(c *Clock, id string, count int) (set bool, err error) {
	left, err := s.changeLatch(c, id, func() (int, error) {
		if s.Count > 0 {
			return 0, nil
		}
		s.setCount(count)
		return count, nil
	})
	return left > 0, err
}

// CountDown takes so much from the count, and returns what is left.
func (s *State) CountDown(c *Clock, id string, by int) (left int, err error) {
	return s.changeLatch(c, id, func() (int, error) {
		if s.Count < by {
			return 0, &driver.CountError{Left: s.Count, By: by}
		}
		s.setCount(s.Count - by)
		return s.Count, nil
	})
}

// DropLatch opens a latch, and reports whether there was one.
func (s *State) DropLatch(c *Clock) (dropped bool, err error) {
	_, err = s.changeLatch(c, "", func() (int, error) {
		if dropped = s.Count > 0; dropped {
			s.setCount(0)
		}
		return 0, nil
	})
	return dropped, err
}

// LatchCount returns what is left of the count.
func (s *State) LatchCount(c *Clock) (int, error) {
	s.prune(c)
	return s.Count, s.checkKind(driver.Latch)
}

// changeLatch makes a change of a latch, unless a call of that ID has made it before: then it is told the same.
func (s *State) changeLatch(c *Clock, id string, change func() (int, error)) (int, error) {
	s.prune(c)
	if a := s.find(Answer, id); a != nil {
		return a.Permits, nil
	}
	if err := s.checkKind(driver.Latch); err != nil {
		return 0, err
	}
	left, err := change()
	if err == nil && id != "" {
		s.Touched = c.Wall
		s.Entries = append(s.Entries, Entry{
			Role: Answer, Owner: id, Permits: left, Since: c.Wall, Until: c.endAfter(AnswersKept),
		})
	}
	return left, err
}

// setCount gives a latch its count, and wakes who waits for it when it is new, or open.
func (s *State) setCount(count int) {
	if s.Count == 0 || count == 0 {
		s.Wakes.All = true
	}
	s.Count = count
}
