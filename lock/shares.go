package lock

import "time"

// shares keeps what is remembered of names that nobody here uses at the moment.
type shares struct {
	byName map[string]*share
	limit  int // when to look for those that are too old
}

// take removes and returns the share of a name; nil if there is none.
func (l *shares) take(name string, c *Client) *share {
	s := l.byName[name]
	if s == nil {
		return nil
	}
	delete(l.byName, name)
	if s.stale(c.now()) {
		return nil
	}
	return s
}

// keep puts a share aside.
func (l *shares) keep(name string, s *share, now time.Duration) {
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
		if s.stale(now) {
			delete(l.byName, name)
		}
	}
	l.limit = 2*len(l.byName) + 16
}

func (s *share) stale(now time.Duration) bool { return now-s.freed >= shareLife }
