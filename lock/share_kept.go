package lock

import "time"

// shares keeps what is remembered of names that nobody here uses at the moment.
type shares struct {
	byName map[string]*share
	limit  int // when to look for those that are too old
}

// takeShare removes and returns the share of a name; nil if there is none.
func (l *shares) takeShare(name string, c *Client) *share {
	s := l.byName[name]
	if s == nil {
		return nil
	}
	delete(l.byName, name)
	if s.tooOld(c.now()) {
		return nil
	}
	return s
}

// keepShare puts a share aside.
func (l *shares) keepShare(name string, s *share, now time.Duration) {
	if len(l.byName) >= l.limit {
		l.tidy(now)
	}
	l.byName[name] = s
}

// tidy forgets what is too old. It looks again when there are twice as many.
func (l *shares) tidy(now time.Duration) {
	if l.byName == nil {
		l.byName = make(map[string]*share)
	}
	for name, s := range l.byName {
		if s.tooOld(now) {
			delete(l.byName, name)
		}
	}
	l.limit = 2*len(l.byName) + 16
}

func (s *share) tooOld(now time.Duration) bool { return now-s.freed >= shareLife }
