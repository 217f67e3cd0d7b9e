package lock

import (
	"errors"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// lose takes the lock from its holder: the context of the lease ends, and the
// next in the queue may contend.
func (h *hold) lose(cause error) { h.q.client.loseAll(cause, h) }

// loseAll takes locks from their holders. The contexts of all end before anything else
// happens, and the log comes last: whoever reads it may have stopped doing so, and others can
// have the locks in a moment.
func (c *Client) loseAll(cause error, holds ...*hold) {
	ours := make([]*hold, 0, len(holds))
	for _, h := range holds {
		if h.dispossess(lost, cause) {
			h.lease.endContexts(h.cause)
			ours = append(ours, h)
		}
	}
	if len(ours) == 0 {
		return
	}
	c.work.Add(1) // the queues count no more when they are left
	defer c.work.Done()
	for _, h := range ours {
		h.followLoss()
	}
	for _, h := range ours {
		c.opts.Logger.Warn("lock: lost", "name", h.grant.Name,
			"owner", driver.PublicOwner(h.grant.Owner), "token", h.lease.token, "err", h.cause)
	}
}

// followLoss does what a loss entails for everybody but its holder.
func (h *hold) followLoss() {
	c := h.q.client
	c.renewer.remove(h)
	c.observe(c.background, Event{
		Kind: EventLost, Name: h.grant.Name, Owner: h.grant.Owner, Token: h.lease.token, Held: c.now() - h.since,
		Err: h.cause,
	})
	if errors.Is(h.cause, errExpired) || errors.Is(h.cause, errTold) || h.doubt != nil {
		c.releaseUnknown(h.grant, h.doubt) // it may have been renewed, or granted once more, without our hearing of it
	}
	h.q.passFront(h)
}

// dispossess moves the hold out of possession. It reports whether it was possessed; one that lingers is given back.
func (h *hold) dispossess(to possession, cause error) bool {
	h.q.part.mu.Lock()
	defer h.q.part.mu.Unlock()
	if h.state != possessed {
		h.endLinger()
		return false
	}
	if cause == errExpired { //nolint:errorlint // the very one
		cause = h.whyExpired()
	}
	h.state, h.cause = to, cause
	return true
}
