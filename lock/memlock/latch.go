package memlock

import (
	"context"
	"maps"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// latches are the counts there are, by name, and what was answered a while ago.
type latches struct {
	counts  map[string]int
	answers map[string]latchAnswer // by the IDs of calls
	full    int                    // how many answers there may be before old ones are looked for
}

// latchAnswer is what a call was told that has changed a latch.
type latchAnswer struct {
	left int
	at   time.Time
}

// answersKept is for how long a repeated call is recognised.
const answersKept = time.Minute

// SetLatch implements [driver.Latches].
func (b *backend) SetLatch(ctx context.Context, name, id string, count int) (set bool, err error) {
	err = b.changeLatch(ctx, name, id, func(s *Store) (int, error) {
		if set = s.latches.counts[name] == 0; !set {
			return 0, nil
		}
		s.setLatch(name, count)
		return count, nil
	}, func(given int) { set = given > 0 })
	return set, err
}

// CountDown implements [driver.Latches].
func (b *backend) CountDown(ctx context.Context, name, id string, by int) (left int, err error) {
	err = b.changeLatch(ctx, name, id, func(s *Store) (int, error) {
		before := s.latches.counts[name]
		if before < by {
			return 0, &driver.CountError{Left: before, By: by}
		}
		left = before - by
		s.setLatch(name, left)
		return left, nil
	}, func(before int) { left = before })
	return left, err
}

// LatchCount implements [driver.Latches].
func (b *backend) LatchCount(ctx context.Context, name string) (left int, err error) {
	if err := ctx.Err(); err != nil {
		return 0, unavailable(err)
	}
	s := b.store
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.latches.counts[name], s.otherKind(name, driver.Latch)
}

// DropLatch implements [driver.Latches].
func (b *backend) DropLatch(ctx context.Context, name string) (dropped bool, err error) {
	err = b.changeLatch(ctx, name, "", func(s *Store) (int, error) {
		if dropped = s.latches.counts[name] > 0; dropped {
			s.setLatch(name, 0)
		}
		return 0, nil
	}, nil)
	return dropped, err
}

// changeLatch makes a change of a latch, unless a call of that ID has made it before: then that is repeated which it
// was told.
func (b *backend) changeLatch(
	ctx context.Context, name, id string, change func(*Store) (int, error), repeated func(left int),
) error {
	if err := ctx.Err(); err != nil {
		return unavailable(err)
	}
	s := b.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if a, known := s.latches.answers[id]; known && id != "" && s.clock().Sub(a.at) < answersKept {
		repeated(a.left)
		return nil
	}
	if err := s.otherKind(name, driver.Latch); err != nil {
		return err
	}
	left, err := change(s)
	if err == nil && id != "" {
		s.latches.keepAnswer(id, latchAnswer{left, s.clock()})
	}
	return err
}

// setLatch gives a latch its count, and wakes who waits for it when it is new, or open. s.mu is held.
func (s *Store) setLatch(name string, count int) {
	l := &s.latches
	before := l.counts[name]
	if l.counts == nil {
		l.counts = make(map[string]int)
	}
	if l.counts[name] = count; count == 0 {
		delete(l.counts, name)
	}
	if before == 0 || count == 0 {
		s.wakeListeners(name)
	}
}

// keepAnswer keeps what a call was told. It looks for old ones when there are twice as many as were left.
func (l *latches) keepAnswer(id string, a latchAnswer) {
	if len(l.answers) >= l.full {
		maps.DeleteFunc(l.answers, func(_ string, old latchAnswer) bool { return a.at.Sub(old.at) >= answersKept })
		l.full = 2*len(l.answers) + 16
	}
	if l.answers == nil {
		l.answers = make(map[string]latchAnswer)
	}
	l.answers[id] = a
}
