package lock

import (
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// A lease may have a longest life: its holder may hang, and never give it back.

// errOverdue is the cause of a loss by [MutexOptions.MaxHold].
var errOverdue = fmt.Errorf("%w: it was held for as long as it may be%.0w", ErrLost, errExpired)

// longestMaxHold is what fits in a want.
const longestMaxHold = 1000 * time.Hour

// setMaxHold records the longest life of a lease; 0 for none. It is refused by checkMaxHold if it is no such
// time.
func (w *want) setMaxHold(d time.Duration) {
	w.maxHold = uint32(min(max(d, 0), longestMaxHold).Milliseconds())
}

// checkMaxHold refuses what cannot be a longest life.
func (w *want) checkMaxHold(d time.Duration) error {
	switch {
	case d == 0:
		return nil
	case d < driver.MinTTL || d > longestMaxHold:
		return input.Errorf("maxHold", "is %s, allowed are %s to %s", d, driver.MinTTL, longestMaxHold)
	case d < w.minHold:
		return input.Errorf("maxHold", "is %s, less than the minimum, %s", d, w.minHold)
	}
	return nil
}

// longest is the longest life of a lease, 0 if there is none.
func (w *want) longest() time.Duration { return time.Duration(w.maxHold) * time.Millisecond }

// lastingTo returns how long a grant is to live so that its holder has it for that long, who keeps clear of
// its end by a margin.
func lastingTo(d time.Duration) time.Duration { return d + d/40 + 25*time.Millisecond }

// setEnd says when the hold is taken away.
func (h *hold) setEnd(w *want) {
	if w.maxHold > 0 {
		h.end = h.since + w.longest()
	}
}

// notAfterEnd returns a moment, or the end of the hold if that is before.
func (h *hold) notAfterEnd(at time.Duration) time.Duration {
	if h.end == 0 {
		return at
	}
	return min(at, h.end)
}

// isOverdue reports whether the hold is taken away since it has lasted for as long as it may.
func (h *hold) isOverdue() bool { return h.end > 0 && h.q.client.now() >= h.end }

// warnAt is when the holder is warned, before the end.
func (h *hold) warnAt() time.Duration { return h.end - h.want.longest()/5 }

// dueToWarn reports, once, whether the holder is to be warned. renewer.mu is held.
func (h *hold) dueToWarn(now time.Duration) bool {
	if h.end == 0 || h.warned || now < h.warnAt() {
		return false
	}
	h.warned = true
	return true
}

// warnOverdue tells that holds will be taken away soon.
func (c *Client) warnOverdue(holds []*hold) {
	for _, h := range holds {
		held := c.now() - h.since
		c.opts.Logger.Warn("lock: held for long, it will be taken away", "name", h.grant.Name,
			"owner", driver.PublicOwner(h.grant.Owner), "held", held.Round(time.Millisecond),
			"in", (h.end - h.since - held).Round(time.Millisecond))
		c.observe(c.background, Event{
			Kind: EventOverdue, Name: h.grant.Name, Owner: h.grant.Owner, Token: h.grant.Token, Held: held,
		})
	}
}

// renewal returns the grant with the life that it is to have from now on: no longer than it may be held.
func (h *hold) renewal(now time.Duration) driver.Grant {
	g := h.grant
	if h.end > 0 {
		g.TTL = max(min(g.TTL, lastingTo(h.end-now)), driver.MinRest)
	}
	return g
}
