package lock

import (
	"context"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/internal/outcome"
)

// Plea is what somebody asks of who has a lock: to give it back.
type Plea struct {
	// Reason says why, if they have said so.
	Reason string
	// By is until when they want it; zero for as soon as it can be.
	By time.Time
}

// Ask asks all who have the lock to give it back, with a reason for people to read and the time in which it is
// wanted; 0 for as soon as it can be. Those who use this package learn of it at once by [Lease.Asked], and it is
// theirs to decide what comes of it: nothing is taken away, for that there is [Client.ForceRelease]. It returns how
// many of them the backend can have told: 0 if nobody has the lock, or who has it uses another library. Who has it
// and lingers, gives it back.
func (c *Client) Ask(ctx context.Context, name, reason string, within time.Duration) (told int, err error) {
	backend, ok := c.backend.(driver.Pleader)
	if !ok {
		return 0, c.lacks("way to ask holders")
	}
	if err := c.usable(ctx, driver.CheckName(name)); err != nil {
		return 0, err
	}
	p := driver.Plea{Reason: reason, Within: within}
	if err := p.Check(); err != nil {
		return 0, err
	}
	if told, err = backend.Plead(ctx, name, p); err != nil {
		return 0, opError("ask", name, outcome.NotTheCallersEnd(ctx, err))
	}
	return told, nil
}

// Asked is closed when somebody has asked for the lock, see [Client.Ask]: [Lease.Plea] says why, and by when. The lease
// goes on. Once it is unlocked other processes have their turn, before those who wait in this one.
func (l *Lease) Asked() <-chan struct{} {
	h := l.hold
	h.q.part.mu.Lock()
	defer h.q.part.mu.Unlock()
	return h.pleas().asked
}

// Plea returns what was asked last; asked is false if nothing was.
func (l *Lease) Plea() (p Plea, asked bool) {
	h := l.hold
	h.q.part.mu.Lock()
	defer h.q.part.mu.Unlock()
	if h.plea == nil || h.plea.last == nil {
		return Plea{}, false
	}
	return *h.plea.last, true
}

// pleas are those that a holder has heard, or waits for.
type pleas struct {
	asked chan struct{} // closed with the first
	last  *Plea
}

// pleas returns what was asked of the hold. part.mu is held.
func (h *hold) pleas() *pleas {
	if h.plea == nil {
		h.plea = &pleas{asked: make(chan struct{})}
	}
	return h.plea
}

// hearPlea records what a holder is asked, and what follows: it serves nobody else here. part.mu is held.
func (h *hold) hearPlea(p driver.Plea) {
	all := h.pleas()
	if all.last == nil {
		close(all.asked)
	}
	all.last = &Plea{Reason: p.Reason}
	if p.Within > 0 {
		all.last.By = time.Now().Add(p.Within)
	}
	h.endLinger()
	if h.state == possessed {
		c := h.q.client
		e := Event{
			Kind: EventAsked, Name: h.grant.Name, Owner: h.grant.Owner, Token: h.lease.token, Held: c.now() - h.since,
			Plea: *all.last,
		}
		c.work.Go(func() { c.observe(c.background, e) })
	}
}

// isAsked reports whether somebody has asked for it. part.mu is held.
func (h *hold) isAsked() bool { return h.plea != nil && h.plea.last != nil }
