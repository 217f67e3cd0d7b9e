package lock

import (
	"context"
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/internal/settle"
)

// longestLinger is how long a grant may linger in all, from when it was given. Some who want it cannot say so,
// such as clients of other libraries: they have their turn then.
const longestLinger = 100 * time.Millisecond

// lingering is what a hold has that may stay with the client when nobody here has the lock any more: the next
// Lock has it without a request. The backend tells when somebody else wants it.
type lingering struct {
	left   time.Duration // since when nobody has it, by the client's clock
	timer  *time.Timer   // looks whether that is for long enough
	armed  bool          // the timer will
	missed uint64        // how often the client had missed something when it asked
	wanted bool          // by somebody else
	passed int           // how often it was passed on here, which takes tokens, too
	over   bool          // it is being given back: nobody has it
}

// mayLinger returns for how long what the contest asks for may stay, 0 if not at all.
func (k *contest) mayLinger() time.Duration {
	q, c := k.q, k.q.client
	if q.habit == nil || !c.notified || !k.want.passable() || q.watch != nil || !q.habit.comesBack(c.now()) {
		return 0
	}
	q.missed = c.missed.Load()
	return c.opts.Linger
}

// linger lets the grant stay with the client, if it may, when nobody here has it nor waits for it. part.mu is held.
func (h *hold) linger(now time.Duration) bool {
	l, q := h.lingering, h.q
	if l == nil || l.wanted || h.isAsked() || l.missed != q.client.missed.Load() || now-h.since >= longestLinger ||
		q.waiters.first != nil || q.part.closed || !h.hasToken() || h.late.Load() || h.doubt != nil {
		return false
	}
	h.state, l.left = lingers, now
	switch rest := h.lingersUntil() - now; {
	case l.timer == nil:
		l.timer = time.AfterFunc(rest, h.lingerOver)
	case !l.armed:
		l.timer.Reset(rest)
	}
	l.armed = true
	return true
}

// lingersUntil returns when the grant is given back if nobody comes.
func (h *hold) lingersUntil() time.Duration {
	return min(h.lingering.left+h.q.client.opts.Linger, h.since+longestLinger)
}

// comeBack gives the caller a lease of a grant that has stayed with the client, if there is one, and is what it
// wants.
func (t *queues) comeBack(parent context.Context, w *want) *Lease {
	p := t.partOf(w.name)
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.byName[w.name].lingering()
	if h == nil || *h.want != *w || h.lingering.missed != t.client.missed.Load() {
		return nil
	}
	if now := t.client.now(); h.expired(now) || now >= h.lingersUntil() {
		return nil
	}
	lease := &Lease{}
	lease.start(parent, h, h.lease.token+1)
	h.state, h.lease = possessed, lease
	return lease
}

// lingering returns the hold that has stayed; nil if none has. part.mu is held.
func (q *queue) lingering() *hold {
	if q == nil || q.holds.first == nil || q.holds.first.state != lingers {
		return nil
	}
	return q.holds.first
}

// isVacated reports whether nobody here has the lock or waits for it, though its grant lingers, or is being given
// back after that. part.mu is held.
func (q *queue) isVacated() bool {
	h := q.holds.first
	return h != nil && q.waiters.first == nil && (h.state == lingers || h.lingering != nil && h.lingering.over)
}

// lingerOver gives the grant back when nobody has come back for long enough.
func (h *hold) lingerOver() {
	c, l := h.q.client, h.lingering
	h.q.part.mu.Lock()
	defer h.q.part.mu.Unlock()
	l.armed = false
	if h.state != lingers {
		return
	}
	if rest := h.lingersUntil() - c.now(); rest > 0 {
		l.armed = true
		l.timer.Reset(rest)
		return
	}
	h.endLinger()
}

// tryWhenVacated is a TryLock that has come while what lingered is given back: it waits for that, and for its own
// answer, no longer than for one.
func (q *queue) tryWhenVacated(ctx, parent context.Context, w *waiter) (*Lease, error) {
	limited, cancel := context.WithTimeout(ctx, q.client.opts.AnswerTime())
	defer cancel()
	t, err := q.awaitTurn(limited, w)
	switch {
	case errors.Is(err, errEnded) && ctx.Err() == nil:
		return nil, opError("acquire", q.name, &silence{waited: time.Since(w.since)})
	case err != nil || t.lease != nil:
		return t.lease, err
	}
	return q.contend(ctx, parent, w.want, w.since, w.since, true)
}

// recall gives back a grant that somebody else wants: at once, or when it is unlocked. part.mu is held.
func (h *hold) recall() {
	if h.lingering == nil {
		return
	}
	h.lingering.wanted = true
	h.endLinger()
}

// endLinger gives a grant back in the background, if it lingers. part.mu is held.
func (h *hold) endLinger() {
	if h == nil || h.state != lingers {
		return
	}
	h.state, h.cause, h.lingering.over = givenUp, ErrReleased, true
	c := h.q.client
	c.finishLater(h.grant.Name, func() {
		ctx, cancel := context.WithTimeout(c.background, settle.Call)
		defer cancel()
		now := c.now()
		_ = h.release(ctx, c.unlocks.Present(now), now) // nobody waits for it; what failed is cleaned up after
	})
}
