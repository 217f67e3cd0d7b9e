package lock

import (
	"context"
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/internal/settle"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// A grant to write serves those of this process, too, who want to read: all at once who come next, and then the writer
// behind them, for as long as the budget lasts. If each writer had all readers everywhere ask anew, few locks of which
// much is read would be as quick as a mutex. When the time of the budget is over and somebody reads still, the store
// is asked to make it a grant to read: then readers of other processes may come, and others of this one.

// serves reports whether the grant may serve who wants that: the same, or to read what it is had for to write.
func (h *hold) serves(w *want) bool {
	if h.want.mode != driver.Write || w.mode != driver.Shared {
		return *w == *h.want
	}
	written := *w
	written.mode = driver.Write
	return written == *h.want && h.q.client.letsReadersIn()
}

// letsReadersIn reports whether the backend can make grants to write such to read, as far as is known.
func (c *Client) letsReadersIn() bool { return c.downgrader != nil && !c.onlyWrites.Load() }

// serveReaders has readers who wait behind the one that is served join it, for a turn. part.mu is held.
func (h *hold) serveReaders(now time.Duration) {
	h.joinWaiting()
	if h.turn == nil {
		h.turn = time.AfterFunc(h.since+h.q.client.opts.HandOff.Time-now, h.turnOver)
	}
}

// joinWaiting has readers who wait behind the one that is served join it. part.mu is held.
func (h *hold) joinWaiting() {
	for next := h.q.waiters.first; next != nil && h.servesReader(next.want); next = h.q.waiters.first {
		h.q.waiters.pop()
		next.turn <- turn{lease: h.lease.joinGrant(next.ctx)}
	}
}

func (h *hold) servesReader(w *want) bool { return w.mode == driver.Shared && h.serves(w) }

// isRead reports whether the one at the front has a grant to write that serves readers, and nobody waits for it.
// part.mu is held.
func (q *queue) isRead() bool {
	h := q.holds.first
	return h != nil && !h.aside && h.lease.reads && q.waiters.first == nil
}

// turnOver lets readers of other processes in if somebody reads still by a grant to write.
func (h *hold) turnOver() {
	h.q.part.mu.Lock()
	reads := h.state == possessed && h.lease.reads
	h.onlyRead = reads
	if h.state == possessed && !reads {
		h.turn = nil // who is about to pass it on to readers has looked at the clock before: one more timer looks again
	}
	h.q.part.mu.Unlock()
	if reads {
		h.inBackground(h.becomeReader)
	}
}

// becomeReader asks the store, until it answers or the hold is over, to make the grant one to read.
func (h *hold) becomeReader() {
	c := h.q.client
	for pause := settle.Pause; ; pause = min(2*pause, settle.Limit) {
		err := h.downgrade()
		switch {
		case err == nil:
			h.standAside()
			return
		case errors.Is(err, driver.ErrLost):
			h.lose(errTaken)
			return
		case errors.Is(err, driver.ErrRefused):
			c.onlyWrites.Store(true) // readers elsewhere wait for those here, this once
			c.opts.Logger.Debug("lock: readers here keep off those elsewhere", "name", h.grant.Name, "err", err)
			return
		}
		if !h.isInStore() || !c.pauseUnlessStopped(pause) {
			return
		}
	}
}

func (h *hold) downgrade() error {
	c := h.q.client
	ctx, cancel := context.WithTimeout(c.background, c.opts.AnswerTime())
	defer cancel()
	return c.downgrader.Downgrade(ctx, h.grant)
}

// standAside lets the next one come to the front, since others may have the name besides.
func (h *hold) standAside() {
	h.q.part.mu.Lock()
	if h.state != possessed {
		h.q.part.mu.Unlock()
		return
	}
	h.aside = true
	h.q.moveOn(nil)
}
