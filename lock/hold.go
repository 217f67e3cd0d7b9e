package lock

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/bedrock-go/bedrock/internal/settle"
	"github.com/bedrock-go/bedrock/internal/timelimit"
	"github.com/bedrock-go/bedrock/internal/wheel"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// errTooLate says that a grant arrived when its time was nearly over.
var errTooLate = fmt.Errorf("%w: the grant arrived too late to be used", driver.ErrUnavailable)

// errTakenAtOnce says that a grant was taken away before it was here.
var errTakenAtOnce = fmt.Errorf("%w: the grant was taken away at once", driver.ErrUnavailable)

// hold is a grant of the backend in the hands of this process. It is renewed as
// long as it is possessed, and serves one lease after the other while local
// hand-off passes it on.
type hold struct {
	q     *queue
	grant driver.Grant
	want  *want
	// doubt is not nil if a copy of the request may still be on its way, so that
	// the owner must be released once more after the release.
	doubt *settle.Doubt

	// deadline is when, by the client's clock, the lock must be regarded as
	// lost: before the backend can grant it to anybody else.
	deadline atomic.Int64
	late     atomic.Bool // a renewal has failed since the last confirmation

	call timelimit.Context // of the request that gives the grant back

	// Guarded by part.mu.
	state     possession
	aside     bool          // others may have the name besides; set once, while it is possessed
	ending    bool          // it serves no other lease
	onlyRead  bool          // it is to write no more: the store is asked to make it a grant to read, or has done so
	cause     error         // of the state, if it is not possessed
	lease     *Lease        // the one it serves now
	since     time.Duration // by the client's clock
	beside    *hold         // the next one of the same name
	end       time.Duration // when it is taken away at the latest, 0 for never; set once
	turn      *time.Timer   // of a grant to write that has served readers: looks whether some read still
	departing *share        // where it is entered that it is given back; nil if it need not be

	// Guarded by renewer.mu.
	timer   wheel.Entry
	sending bool          // on its way to the backend, or waiting for it
	warned  bool          // that it is taken away soon
	asked   time.Duration // since when no renewal has had an answer, 0 if none waits for one
	trouble error         // what the last one was told that has had one since the last confirmation
	kept    time.Duration // until when it is left in the backend, if it is; set once

	first     Lease      // the first lease, allocated with the hold
	plea      *Plea      // what it was asked last, nil if nobody has asked; guarded by part.mu
	lingering *lingering // nil if it must not linger; guarded by part.mu
}

// possession says whose the grant is.
type possession uint8

const (
	possessed possession = iota
	lingers              // nobody has it: it was unlocked, and has stayed
	givenUp              // released, or about to be
	lost
)

// takeGrant makes the grant the caller's, unless it comes too late: then it is to be given back.
// It lives for so long, from some time after sent.
func (q *queue) takeGrant(
	ctx, parent context.Context, w *want, grant driver.Grant, sent, life time.Duration, d *settle.Doubt,
) (*Lease, error) {
	q.standing = nil
	h := &hold{q: q, grant: grant, want: w, doubt: d, since: q.client.now(), aside: w.hasCompany()}
	h.setEnd(w)
	h.confirm(sent, life)
	h.timer.Owner = h
	h.lease = &h.first
	h.first.start(parent, h, grant.Token)
	if grant.Recalled {
		h.lingering = &lingering{missed: q.missed}
	}
	if err := h.recordHold(ctx); err != nil {
		return nil, err
	}
	q.client.renewer.add(h, sent, life)
	return h.lease, nil
}

// recordHold records the hold in its queue, unless it comes too late.
func (h *hold) recordHold(ctx context.Context) error {
	h.q.part.mu.Lock()
	defer h.q.part.mu.Unlock()
	h.q.endSilence()
	ended := ctx.Err() != nil
	switch {
	case ended: // it is an answer all the same
	case h.expired(h.since):
		return errTooLate
	case h.q.part.closed:
		return ErrClosed
	case h.q.wasTold(driver.Taken):
		return errTakenAtOnce
	}
	h.q.asks.Store(0)
	h.q.endFailing() // before it can be lost, and the next one come to the front
	h.q.why = nil
	if ended {
		return errEnded
	}
	if h.lingering != nil {
		h.lingering.wanted = h.q.wasTold(driver.Wanted)
	}
	h.q.holds.add(h)
	h.hearEarlyPlea()
	return nil
}

// confirm sets the deadline after the backend confirmed, at some time after
// sent, that the grant lives for so long.
func (h *hold) confirm(sent, life time.Duration) {
	h.deadline.Store(int64(h.notAfterEnd(sent + life - margin(life))))
}

func (h *hold) expired(now time.Duration) bool { return int64(now) >= h.deadline.Load() }

// checkClock finds out at once that the lease has run out, when the timer that
// should have told is late: none runs while the machine sleeps. It returns the time, which
// is dear to ask for: each reading is a call of the kernel.
func (h *hold) checkClock() (now time.Duration) {
	now = h.q.client.now()
	if h.expired(now) {
		h.lose(errExpired)
	}
	return now
}

// margin is what is kept clear of the TTL for clocks that run at different
// speeds and for the time it takes to tell the holder.
func margin(ttl time.Duration) time.Duration {
	return min(ttl/50+10*time.Millisecond, ttl/4)
}

// served returns how many leases the grant has served.
func (h *hold) served() int { return int(h.lease.token-h.grant.Token) + 1 }
