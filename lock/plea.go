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

// pleaNow returns what is asked at this moment.
func pleaNow(asked driver.Plea) Plea {
	p := Plea{Reason: asked.Reason}
	if asked.Within > 0 {
		p.By = time.Now().Add(asked.Within)
	}
	return p
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
// goes on. Once it is unlocked other processes have their turn, before a mutex or a writer that waits in this one. A
// lease that is over is not asked any more, whoever has the lock then.
func (l *Lease) Asked() <-chan struct{} {
	l.hold.q.part.mu.Lock()
	defer l.hold.q.part.mu.Unlock()
	if l.asked == nil {
		l.asked = make(chan struct{})
		if l.lastPlea() != nil {
			close(l.asked)
		}
	}
	return l.asked
}

// Plea returns what was asked last; asked is false if nothing was.
func (l *Lease) Plea() (p Plea, asked bool) {
	l.hold.q.part.mu.Lock()
	defer l.hold.q.part.mu.Unlock()
	last := l.lastPlea()
	if last == nil {
		return Plea{}, false
	}
	return *last, true
}

// lastPlea returns what was asked last of this lease; of one that goes on that is what its hold was asked. part.mu is
// held.
func (l *Lease) lastPlea() *Plea {
	if l.unlocked {
		return l.plea
	}
	return l.hold.plea
}

// hearPlea closes what is waited for, unless the lease is over. part.mu is held.
func (l *Lease) hearPlea() {
	if l.asked != nil && !l.unlocked && !isClosed(l.asked) {
		close(l.asked)
	}
}

// inheritPlea has this lease, which nobody has had yet, know of what another one of the name was asked.
func (l *Lease) inheritPlea(from *Lease) {
	l.hold.q.part.mu.Lock()
	defer l.hold.q.part.mu.Unlock()
	if l.hold.plea == nil {
		l.hold.plea = from.hold.plea
	}
}

// hearPlea records what the holders are asked, and what follows: the grant serves nobody else here. part.mu is held.
func (h *hold) hearPlea(p Plea) {
	h.endLinger()
	if h.state != possessed {
		return
	}
	h.plea = &p
	h.lease.hearPlea()
	for inner := range h.lease.inner {
		inner.hearPlea()
	}
	c := h.q.client
	e := Event{
		Kind: EventAsked, Name: h.grant.Name, Owner: h.grant.Owner, Token: h.lease.token, Held: c.now() - h.since,
		Plea: p,
	}
	c.work.Go(func() { c.observe(c.background, e) })
}

// earlyPlea is what an owner was asked before its grant was here: the message of a plea may overtake the answer to a
// request, or the message of a grant that was passed on.
type earlyPlea struct {
	Plea

	owner string
}

// hearEarlyPlea hears what the hold was asked before it was here. part.mu is held.
func (h *hold) hearEarlyPlea() {
	early := h.q.early
	h.q.early = nil
	if early != nil && early.owner == h.grant.Owner {
		h.hearPlea(early.Plea)
	}
}

// isAsked reports whether somebody has asked for it. part.mu is held.
func (h *hold) isAsked() bool { return h.plea != nil }
