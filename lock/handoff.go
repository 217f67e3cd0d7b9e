package lock

import "time"

// tokensWanted returns how many fencing tokens to reserve with the next grant:
// one for every lease it may serve. Without local waiters that is one; with
// them, twice what the last grant used, so that tokens are not used up more
// quickly than leases are served. One that lingers serves many, if it did so before.
func (q *queue) tokensWanted(w *want, linger bool) int {
	q.part.mu.Lock()
	defer q.part.mu.Unlock()
	switch {
	case !w.passable():
		return 1
	case linger:
		return min(maxHandOff, max(fewestGranted, 2*q.habit.served))
	case q.waiters.len > 0:
		return min(q.client.opts.HandOff.Count, 2*max(int(q.served), q.waiters.len+8))
	case q.watch != nil: // it may stand, and others come until it is granted
		return min(q.client.opts.HandOff.Count, fewestGranted)
	default:
		return 1
	}
}

// passOn gives the lock to the next waiter of this process if it may have it
// without a round trip. part.mu is held.
func (h *hold) passOn(now time.Duration) bool {
	next := h.q.waiters.first
	if next == nil || h.q.part.closed || !h.budget(now) || !h.serves(next.want) {
		return false
	}
	h.q.waiters.pop()
	lease := &Lease{}
	lease.start(next.ctx, h, h.lease.token+1)
	lease.reads = next.want.mode != h.want.mode
	h.lease = lease
	if h.lingering != nil {
		h.lingering.passed++
	}
	next.turn <- turn{lease: lease}
	if lease.reads {
		h.serveReaders(now)
	}
	return true
}

// budget reports whether the grant may serve one more lease: a token is left,
// other processes have not waited too long, and renewal is in order.
func (h *hold) budget(now time.Duration) bool {
	return h.hasToken() && h.mayPassOn() && now-h.since < h.q.client.opts.HandOff.Time &&
		!h.late.Load() && !h.ending && !h.onlyRead && !h.isAsked() && h.want.passable()
}

// mayPassOn reports whether the budget has a lease left. One that lingers has tokens for more.
func (h *hold) mayPassOn() bool {
	return h.lingering == nil || h.lingering.passed+1 < h.q.client.opts.HandOff.Count
}

// hasToken reports whether a token is left for one more lease.
func (h *hold) hasToken() bool { return h.lease.token+1 < h.grant.Token+uint64(h.grant.Tokens) }
