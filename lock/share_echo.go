package lock

import (
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// A queue hears of the releases of others, and of those of its own process: these are nobody's go. It counts which of
// them it has been told of.

// beginHearing has the queue hear of releases from now on: of all own ones that are made from now on, and those that
// may not have been told of yet.
func (q *queue) beginHearing(w driver.Watch) {
	q.part.mu.Lock()
	defer q.part.mu.Unlock()
	q.watch, q.seen, q.echoes = w, 0, 0
	if s := q.part.shareOf(q.name); s != nil {
		q.echoes = s.releases - s.mayEcho(q.client.now())
	}
}

// endHearing enters what the queue has heard that ends: the next one need not expect it. part.mu is held.
func (q *queue) endHearing() {
	s := q.part.shareOf(q.name)
	if s == nil || q.watch == nil || s.underWay > 0 {
		return
	}
	if s.releases-q.echoes <= q.releases()-q.seen {
		s.echo = 0
	}
}

// mayEcho returns how many of the own releases may be told of to a watch that has begun after them: nobody as far away
// as we are can have been so quick. part.mu is held.
func (s *share) mayEcho(now time.Duration) uint64 {
	if s.underWay == 0 && now > s.echo {
		return 0
	}
	return min(uint64(max(s.underWay, 1)), s.releases)
}

// releases returns how many releases the queue was told of.
func (q *queue) releases() uint64 {
	if q.watch == nil {
		return 0
	}
	return q.watch.Count()
}

// othersReleases returns how many releases by others the queue was told of since it was asked last. part.mu is held.
func (q *queue) othersReleases(s *share, now time.Duration) int {
	told := max(int64(q.releases()-q.seen), 0)
	q.seen += uint64(told)
	if s == nil {
		return int(told)
	}
	own := min(uint64(told), s.releases-q.echoes)
	q.echoes += own
	if s.underWay == 0 && now > s.echo { // what was not told by now is not told
		q.echoes = s.releases
	}
	return int(told) - int(own)
}
