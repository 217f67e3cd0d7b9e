package lock

import (
	"context"
	"time"
)

// Several of this process may have a name at once, or want it in several queues: to read, to read with the right to
// write, to write, to write after the readers. All of them go by one share. So each release is entered there from the
// moment that it is made: whoever asks meanwhile waits for what it tells.

// departures are the own releases of a name, as its share sees them.
type departures struct {
	releases uint64        // that were made
	underWay int           // of them, without an answer
	answered chan struct{} // closed when none is any more that others here wait for; nil if none is
	awaited  time.Duration // since when they do
	echo     time.Duration // until when what was answered may be told of
}

// beginDeparture enters that the hold is about to be given back. part.mu is held.
func (h *hold) beginDeparture(now time.Duration) {
	if !h.hasTurns() {
		return
	}
	p, name := h.q.part, h.q.name
	s, awaited := p.shareOf(name), h.countsAsTurn() && (h.aside || len(p.besides[name]) > 0)
	if s == nil && awaited {
		s = p.newShareOf(name, now)
	}
	if s == nil {
		return
	}
	h.departing = s
	s.releases++
	s.underWay++
	if awaited && s.answered == nil {
		s.answered, s.awaited = make(chan struct{}), now
	}
}

// countsAsTurn reports whether others are owed theirs when the hold is given back. Readers keep nobody off who reads,
// unless they are one at a time, have had the turn of a writer, or are asked to go. part.mu is held.
func (h *hold) countsAsTurn() bool {
	switch {
	case h.isAsked():
		return true
	case h.q.overOwner() != "": // who had it before has it still, and comes after
		return !h.aside && h.q.part.holdOf(h.q.name, h.q.overOwner()) == nil
	default:
		return !h.aside || h.onlyRead || h.want.isUpgradeable()
	}
}

// endDeparture enters that the release was answered, or will not be.
func (h *hold) endDeparture(sent time.Duration) {
	s := h.departing
	if s == nil {
		return
	}
	now := h.q.client.now()
	h.q.part.mu.Lock()
	defer h.q.part.mu.Unlock()
	h.departing = nil
	s.underWay--
	s.echo = now + max(now-sent, shortestEcho)
	if s.underWay == 0 && s.answered != nil {
		close(s.answered)
		s.answered = nil
	}
}

// account enters a grant that was given back: when the request was made so many releases had been heard of, and the
// answer is that so many others wait.
func (h *hold) account(waiting int, heard uint64) {
	if !h.hasTurns() || waiting == 0 && h.departing == nil {
		return
	}
	p, name := h.q.part, h.q.name
	now := h.q.client.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	if !h.countsAsTurn() {
		return
	}
	if waiting == 0 { // or the store has passed it on: what was learnt of others is of use when it does not
		h.departing.owed = 0
		return
	}
	s := h.departing
	if s == nil { // it was not entered when the request was made
		s = p.newShareOf(name, now)
		s.releases++
		s.echo = now + shortestEcho
	}
	s.account(h, waiting, now)
	if !h.aside {
		h.q.seen = heard // what was told before is over; the own release is told, too
	}
}

// awaitDepartures waits for what own releases tell that are under way, if that comes soon.
func (k *contest) awaitDepartures(ctx context.Context) error {
	answered, until := k.q.departuresUnderWay()
	left := min(until-k.q.client.now(), spare(ctx))
	if answered == nil || left <= 0 {
		return nil
	}
	return k.pauseFor(ctx, left, answered)
}

// departuresUnderWay returns what is closed when no own release is under way that is to be waited for, and until when
// it is; nil if none is.
func (q *queue) departuresUnderWay() (answered <-chan struct{}, until time.Duration) {
	q.part.mu.Lock()
	defer q.part.mu.Unlock()
	s := q.part.shareOf(q.name)
	if s == nil {
		return nil, 0
	}
	return s.answered, s.awaited + longestYield
}
