package lock

import (
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// A queue hears of the releases of others, and of those of its own process: these are nobody's go. It counts which of
// them it has been told of.

// beginHearing has the queue hear of releases from now on: of all own ones that are made from now on, and of one made
// before that was not told of yet.
func (q *queue) beginHearing(w driver.Watch) {
	q.part.mu.Lock()
	defer q.part.mu.Unlock()
	q.watch, q.seen, q.echoes, q.echo = w, 0, 0, 0
	if s := q.part.shareOf(q.name); s != nil {
		q.echoes, q.echo = s.releases-uint64(s.underWay), s.echo
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
	others := int(told) - int(own)
	if others > 0 && now <= q.echo { // nobody as far away as we are can have been so quick
		others, q.echo = others-1, 0
	}
	if s.underWay == 0 && now > s.echo { // what was not told by now is not told
		q.echoes = s.releases
	}
	return others
}
