package lock

import (
	"context"
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/internal/settle"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/internal/outcome"
)

// unlock ends the lease l of this hold: it is passed on, released, or kept
// because it has been entered more than once.
func (h *hold) unlock(ctx context.Context, l *Lease) error {
	now := h.checkClock()
	over, err := h.recordUnlock(l, now)
	if err != nil {
		return err // whoever took the lease away ends its context, with the cause
	}
	l.endContext(ErrReleased)
	if over {
		return h.release(ctx, h.q.client.unlocks.Present(now), now)
	}
	return nil
}

// recordUnlock records that l was unlocked. It reports whether the hold is over: nobody has
// entered it any more, and nobody here has taken it over.
func (h *hold) recordUnlock(l *Lease, now time.Duration) (over bool, err error) {
	h.q.part.mu.Lock()
	defer h.q.part.mu.Unlock()
	if l.unlocked {
		return false, opError("unlock", h.grant.Name, ErrReleased)
	}
	l.unlocked, l.plea = true, h.plea
	if h.lease == l.root && h.state != possessed {
		return false, opError("unlock", h.grant.Name, h.cause)
	}
	l.released = true
	delete(l.root.inner, l)
	if l.root.entered--; l.root.entered > 0 || h.passOn(now) || h.linger(now) {
		return false, nil
	}
	h.state, h.cause = givenUp, ErrReleased
	h.beginDeparture(now)
	return true, nil
}

// release gives the grant back to the backend and the queue's front to the next
// in line, who waits for that no longer than the limit. The hold has been taken out of
// possession.
func (h *hold) release(ctx, limit context.Context, now time.Duration) error {
	if h.turn != nil {
		h.turn.Stop()
	}
	h.q.client.renewer.remove(h)
	bounded, cancel := releaseContext(ctx)
	defer cancel()
	h.call.Begin(bounded, limit)
	defer h.call.End()
	defer h.q.passFront(h) // also when the backend panics, which its caller may survive
	defer h.endDeparture(now)
	return h.giveBack(ctx, now)
}

// giveBack makes the request in the hold's call, which ctx is the caller's context of.
func (h *hold) giveBack(ctx context.Context, now time.Duration) error {
	c := h.q.client
	if rest := h.minHoldLeft(now); rest > 0 {
		return h.keepFor(ctx, now, rest)
	}
	heard := uint64(0)
	if !h.aside { // else the watch is that of whoever is at the front now
		heard = h.q.releases()
	}
	waiting, err := c.backend.Release(&h.call, h.grant)
	unsure := err != nil && !errors.Is(err, driver.ErrLost)
	if unsure || h.doubt != nil {
		c.releaseUnknown(h.grant, h.doubt)
	}
	switch {
	case err == nil:
		if waiting > 0 {
			h.q.habit.enterShared(c.now())
		}
		h.account(waiting, heard)
		return nil
	case !unsure:
		return opError("unlock", h.grant.Name, ErrLost)
	case isRefusal(err):
		return opError(leftInBackend, h.grant.Name, err)
	default:
		return opError(c.whatFollows(), h.grant.Name, outcome.Unknown(h.unanswered(ctx, now, err)))
	}
}

// isRefusal reports whether the backend has said that it did nothing, and will not: nothing is open then.
func isRefusal(err error) bool {
	return errors.Is(err, driver.ErrRefused) && settle.NothingHappened(err)
}

// leftInBackend tells what becomes of a grant that nobody releases any more.
const leftInBackend = "not released, it runs out by itself"

// whatFollows tells what becomes of a grant when it is not known that it was released.
func (c *Client) whatFollows() string {
	if c.background.Err() != nil { // the client was stopped, and its time is over
		return leftInBackend
	}
	return "unlock goes on in the background"
}

// unanswered returns the error of a request made at that time. It tells so when the request was
// given up without an answer, since others in the queue wait for it.
func (h *hold) unanswered(ctx context.Context, sent time.Duration, err error) error {
	if h.call.Err() != nil && ctx.Err() == nil && outcome.IsContextError(err) {
		return &silence{waited: h.q.client.now() - sent}
	}
	return outcome.NotTheCallersEnd(ctx, err)
}

// relinquish releases the grant when the client is stopped; when ctx is over it
// leaves it in the backend, where it ends by itself. Nobody in the queue waits any more: the
// request may take all the time there is.
func (h *hold) relinquish(ctx context.Context) error {
	c := h.q.client
	if ctx.Err() != nil {
		c.renewer.remove(h)
		h.q.passFront(h)
		return opError(leftInBackend, h.grant.Name, outcome.ContextError(ctx))
	}
	err := h.release(ctx, context.Background(), c.now())
	if unknown, ok := errors.AsType[*outcome.UnknownError](err); ok {
		c.unreleased.noteCause(h.grant.Name, unknown) // it is told at the end, if it is true then
		return nil
	}
	return err
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
