package lock

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/bedrock-go/bedrock/internal/settle"
	"github.com/bedrock-go/bedrock/internal/wheel"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// errTooLate says that a grant arrived when its time was nearly over.
var errTooLate = fmt.Errorf("%w: the grant arrived too late to be used", driver.ErrUnavailable)

// errExpired is the cause of a loss found out by the clock.
var errExpired = fmt.Errorf("%w: not renewed in time", ErrLost)

// errTaken is the cause of a loss that the backend tells of.
var errTaken = fmt.Errorf("%w: the backend does not have the lease any more", ErrLost)

// hold is a grant of the backend in the hands of this process. It is renewed as
// long as it is possessed, and serves one lease after the other while local
// hand-off passes it on.
type hold struct {
	q     *queue
	grant driver.Grant
	fixed bool // not renewed
	// doubt is not nil if a copy of the request may still be on its way, so that
	// the owner must be released once more after the release.
	doubt *settle.Doubt

	// deadline is when, by the client's clock, the lock must be regarded as
	// lost: before the backend can grant it to anybody else.
	deadline atomic.Int64
	late     atomic.Bool // a renewal has failed since the last confirmation

	// Guarded by part.mu.
	state possession
	cause error  // of the state, if it is not possessed
	lease *Lease // the one it serves now
	since time.Time

	// Guarded by renewer.mu.
	timer   wheel.Entry
	sending bool          // on its way to the backend, or waiting for it
	failed  int           // renewals since the last confirmation
	kept    time.Duration // until when it is left in the backend, if it is; set once

	first Lease // the first lease, allocated with the hold
}

// possession says whose the grant is.
type possession uint8

const (
	possessed possession = iota
	givenUp              // released, or about to be
	lost
)

// take makes the grant the caller's.
func (q *queue) take(
	ctx, parent context.Context, m *Mutex, grant driver.Grant, sent time.Duration, d *settle.Doubt,
) (*Lease, error) {
	h := &hold{q: q, grant: grant, fixed: m.opts.Fixed, doubt: d, since: time.Now()}
	h.confirm(sent)
	h.timer.Owner = h
	h.lease = &h.first
	h.first.begin(parent, h, m, grant.Token)
	if err := h.accept(ctx); err != nil {
		q.client.settle(grant, d)
		return nil, err
	}
	q.client.renewer.add(h, sent)
	return h.lease, nil
}

// accept records the hold in its queue, unless it comes too late.
func (h *hold) accept(ctx context.Context) error {
	if ctx.Err() != nil {
		return errEnded
	}
	if h.expired(h.q.client.now()) {
		return errTooLate
	}
	h.q.part.mu.Lock()
	defer h.q.part.mu.Unlock()
	if h.q.part.closed {
		return ErrClosed
	}
	h.q.hold, h.q.why = h, nil
	return nil
}

// confirm sets the deadline after the backend confirmed, at some time after
// sent, that the grant lives for its TTL.
func (h *hold) confirm(sent time.Duration) {
	h.deadline.Store(int64(sent + h.grant.TTL - margin(h.grant.TTL)))
}

func (h *hold) expired(now time.Duration) bool { return int64(now) >= h.deadline.Load() }

// checkClock finds out at once that the lease has run out, when the timer that
// should have told is late: none runs while the machine sleeps.
func (h *hold) checkClock() {
	if h.expired(h.q.client.now()) {
		h.lose(errExpired)
	}
}

// margin is what is kept clear of the TTL for clocks that run at different
// speeds and for the time it takes to tell the holder.
func margin(ttl time.Duration) time.Duration {
	return min(ttl/50+10*time.Millisecond, ttl/4)
}

// served returns how many leases the grant has served.
func (h *hold) served() int { return int(h.lease.token-h.grant.Token) + 1 }

// lose takes the lock from its holder: the context of the lease ends, and the
// next in the queue may contend.
func (h *hold) lose(cause error) {
	if !h.end(lost, cause) {
		return
	}
	c := h.q.client
	h.lease.endAll(cause)
	c.renewer.remove(h)
	c.opts.Logger.Warn("lock: lost", "name", h.grant.Name,
		"owner", driver.PublicOwner(h.grant.Owner), "token", h.lease.token, "err", cause)
	c.observe(c.background, Event{
		Kind: EventLost, Name: h.grant.Name, Owner: h.grant.Owner, Token: h.lease.token, Err: cause,
	})
	if errors.Is(cause, errExpired) || h.doubt != nil {
		c.settle(h.grant, h.doubt) // the backend may have renewed it without our hearing of it
	}
	h.q.leave()
}

// end moves the hold out of possession. It reports whether it was possessed.
func (h *hold) end(to possession, cause error) bool {
	h.q.part.mu.Lock()
	defer h.q.part.mu.Unlock()
	if h.state != possessed {
		return false
	}
	h.state, h.cause = to, cause
	return true
}

// release gives the grant back to the backend and the queue's front to the next
// in line. The hold has been taken out of possession.
func (h *hold) release(ctx context.Context) error {
	h.q.client.renewer.remove(h)
	err := h.giveBack(ctx)
	h.q.leave()
	return err
}

func (h *hold) giveBack(ctx context.Context) error {
	c := h.q.client
	if rest := h.minHoldLeft(); rest > 0 {
		return h.keepFor(ctx, rest)
	}
	bounded, cancel := releaseContext(ctx)
	defer cancel()
	sent, heard := c.now(), h.q.releases()
	waiting, err := c.backend.Release(bounded, h.grant)
	unsure := err != nil && !errors.Is(err, driver.ErrLost)
	if unsure || h.doubt != nil {
		c.settle(h.grant, h.doubt)
	}
	switch {
	case err == nil:
		h.q.account(h, waiting, sent, heard)
		return nil
	case !unsure:
		return opError("unlock", h.grant.Name, ErrLost)
	default:
		return opError("unlock goes on in the background", h.grant.Name, &unknownError{err})
	}
}

// relinquish releases the grant when the client is closed; when ctx is over it
// leaves it in the backend, where it ends by itself.
func (h *hold) relinquish(ctx context.Context) error {
	if ctx.Err() == nil {
		return h.release(ctx)
	}
	h.q.client.renewer.remove(h)
	h.q.leave()
	return opError("not released, it runs out by itself", h.grant.Name, contextError(ctx))
}

// releaseGrace is how long a release whose context is over may take before it
// goes on in the background.
const releaseGrace = 100 * time.Millisecond

// releaseContext makes a release independent of a context that is over already.
func releaseContext(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx.Err() == nil {
		return ctx, func() {}
	}
	return context.WithTimeout(context.WithoutCancel(ctx), releaseGrace)
}
