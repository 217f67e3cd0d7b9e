package coord

import (
	"context"
	"errors"

	"github.com/bedrock-go/bedrock/coord/internal/lanes"
	"github.com/bedrock-go/bedrock/txn"
)

// makeCall makes one call as soon as there is a slot, if the breaker lets it.
func (c *Coordinator) makeCall(ctx context.Context, f *flight, a *answer) {
	if f.lacking != nil {
		a.Answer = txn.Answer{Kind: txn.AnswerHeld, Lacking: true, Note: f.lacking.Error()}
		return
	}
	a.recoveries = f.standing.Recoveries
	switch err := f.acquireSlot(ctx); {
	case err == nil && ctx.Err() == nil:
		c.callOnce(ctx, f, a)
	case errors.Is(err, lanes.ErrDown):
		a.Answer = heldAnswer()
	default:
		c.endFlight(f, lanes.Nothing)
		a.Answer = notCalledAnswer()
	}
}

// checkLane finds out whether a call can be made now. A run does that for its calls one
// after another, so chance does not choose which of them becomes the probe.
func (c *Coordinator) checkLane(f *flight) {
	if f.lacking = c.whyNotHere(f.target); f.lacking != nil {
		return
	}
	f.standing = f.lane.Standing()
	if f.standing.Open && !f.standing.Blocked {
		f.standing.Blocked = !f.passBreaker()
	}
}

// acquireSlot gets a slot and the breaker's leave. A probe has that leave already, and
// needs no slot: calls that hang may hold all of them.
func (f *flight) acquireSlot(ctx context.Context) error {
	switch {
	case f.standing.Blocked:
		return lanes.ErrDown
	case f.standing.Open:
		return nil
	}
	if err := f.lane.Acquire(ctx); err != nil {
		return err
	}
	if !f.passBreaker() {
		f.lane.Release()
		return lanes.ErrDown
	}
	f.slots = true
	return nil
}

// passBreaker asks for the breaker's leave, and reports whether it was given.
func (f *flight) passBreaker() (ok bool) {
	f.pass, ok = f.lane.Admit(f.limit + grace)
	return ok
}
