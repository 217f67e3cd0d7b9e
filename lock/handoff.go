package lock

import (
	"context"
	"time"
)

// tokensWanted returns how many fencing tokens to reserve with the next grant:
// one for every lease it may serve. Without local waiters that is one; with
// them, twice what the last grant used, so that tokens are not used up more
// quickly than leases are served.
func (q *queue) tokensWanted(m *Mutex) int {
	q.part.mu.Lock()
	defer q.part.mu.Unlock()
	if q.waiters.len == 0 || m.opts.Fixed || m.opts.MinHold > 0 {
		return 1
	}
	return min(q.client.opts.HandOff.Count, 2*max(q.served, q.waiters.len+8))
}

// passOn gives the lock to the next waiter of this process if it may have it
// without a round trip. part.mu is held.
func (h *hold) passOn() bool {
	next := h.q.waiters.first
	if next == nil || h.q.part.closed || !h.budget() || !h.suits(next.mutex) {
		return false
	}
	h.q.waiters.pop()
	lease := &Lease{}
	lease.begin(next.ctx, h, next.mutex, h.lease.token+1)
	h.lease = lease
	next.turn <- turn{lease: lease}
	return true
}

// budget reports whether the grant may serve one more lease: a token is left,
// other processes have not waited too long, and renewal is in order.
func (h *hold) budget() bool {
	return h.lease.token+1 < h.grant.Token+uint64(h.grant.Tokens) &&
		time.Since(h.since) < h.q.client.opts.HandOff.Time &&
		!h.late.Load() && !h.fixed
}

// suits reports whether the grant is what m would have asked for.
func (h *hold) suits(m *Mutex) bool {
	return m.opts.TTL == h.grant.TTL && !m.opts.Fixed && m.opts.MinHold == 0 && m.meta == h.lease.mutex.meta
}

// unlock ends the lease l of this hold: it is passed on, released, or kept
// because it has been entered more than once.
func (h *hold) unlock(ctx context.Context, l *Lease) error {
	h.checkClock()
	verdict, err := h.settleUnlock(l)
	if err != nil {
		return err // whoever took the lease away ends its context, with the cause
	}
	l.end(ErrReleased)
	if verdict == releaseNow {
		return h.release(ctx)
	}
	return nil
}

// verdict is what an unlock comes to.
type verdict uint8

const (
	doNothing verdict = iota
	releaseNow
)

// settleUnlock decides what an unlock of l comes to and records it.
func (h *hold) settleUnlock(l *Lease) (verdict, error) {
	h.q.part.mu.Lock()
	defer h.q.part.mu.Unlock()
	if l.unlocked {
		return doNothing, opError("unlock", h.grant.Name, ErrReleased)
	}
	l.unlocked = true
	if h.lease == l.root && h.state != possessed {
		return doNothing, opError("unlock", h.grant.Name, h.cause)
	}
	delete(l.root.inner, l)
	if l.root.entered--; l.root.entered > 0 || h.passOn() {
		return doNothing, nil
	}
	h.state, h.cause = givenUp, ErrReleased
	return releaseNow, nil
}
