package lock

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// Lease is what a holder has: the lock, for as long as it is renewed. It is
// safe for concurrent use.
type Lease struct {
	hold   *hold
	token  uint64
	parent context.Context //nolint:containedctx // Context is made from it on first use

	root     *Lease              // the lease that was re-entered; itself if none
	entered  int                 // of the root: leases not yet unlocked; guarded by part.mu
	inner    map[*Lease]struct{} // of the root: those besides itself; guarded by part.mu
	unlocked bool                // guarded by part.mu
	plea     *Plea               // once it is unlocked: what it was asked last; guarded by part.mu
	asked    chan struct{}       // nil unless somebody waits to be asked; guarded by part.mu
	released bool                // unlocked while the lock was held; guarded by part.mu
	reads    bool                // of the root: it reads by a grant to write; set before it is had
	joined   bool                // it shares the grant of others, and was not made from their contexts
	acquired time.Time

	mu     sync.Mutex
	ctx    context.Context //nolint:containedctx // see Context
	cancel context.CancelCauseFunc
	ended  error
}

// State reports whether a lease can be relied on.
type State uint8

// The states of a lease.
const (
	// Held: confirmed by the backend within half of the TTL or so.
	Held State = iota
	// Unconfirmed: a renewal is late. The lock is still ours by the clock.
	Unconfirmed
	// Lost: somebody else may have the lock. The context has ended.
	Lost
	// Released: it was unlocked.
	Released
)

// String returns the state's name.
func (s State) String() string {
	return [...]string{"held", "unconfirmed", "lost", "released"}[min(s, Released)]
}

func (l *Lease) start(parent context.Context, h *hold, token uint64) {
	l.hold, l.parent, l.token = h, parent, token
	l.root, l.entered = l, 1
}

// Name returns the lock's name.
func (l *Lease) Name() string { return l.hold.grant.Name }

// Owner returns the owner id under which the backend knows the holder.
func (l *Lease) Owner() string { return l.hold.grant.Owner }

// Token returns the fencing token: higher than that of every earlier holder of
// the name, if it is a mutex or held to write. Readers who share a grant share its token, and those of
// permits are in no order. A resource that remembers the highest token it has seen and refuses
// lower ones is safe from a holder that was paused and does not know that it
// lost the lock.
func (l *Lease) Token() uint64 { return l.token }

// Spread is on how many stores a lease is.
type Spread struct {
	// Held is how many of the Stores have granted it.
	Held, Stores int
	// Surplus is how many of those that have may forget it before somebody else can have the lock.
	Surplus int
}

// Spread returns on how many stores the lease is by now, if it is on several: see lock/quorum and lock/combination.
// Else it is zero.
func (l *Lease) Spread() Spread {
	on, ok := l.hold.grant.Handle.(driver.Spread)
	if !ok {
		return Spread{}
	}
	held, stores, surplus := on.Spread()
	return Spread{held, stores, surplus}
}

// Context returns a child of the context given to Lock. It ends with cause
// [ErrLost] when the lock is lost, before the backend can grant it to anybody
// else, and with cause [ErrReleased] at Unlock. Given to Lock of the same
// name and client, it re-enters the lock; a context made from it that outlives the
// lease locks anew from then on.
func (l *Lease) Context() context.Context {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx == nil {
		ctx, cancel := context.WithCancelCause(l.parent)
		l.ctx, l.cancel = leaseContext{ctx, l}, cancel
		if l.ended != nil {
			cancel(l.ended)
		}
	}
	return l.ctx
}

// endContext ends the lease's context. Only the first cause counts.
func (l *Lease) endContext(cause error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended != nil {
		return
	}
	l.ended = cause
	if l.cancel != nil {
		l.cancel(cause)
	}
}

// endContexts ends the lease's context, and those of the leases that re-entered it:
// they need not descend from it. The hold is not possessed any more, so none can
// join or leave. Who has left already ends its context itself.
func (l *Lease) endContexts(cause error) {
	if !l.released {
		l.endContext(cause)
	}
	for inner := range l.inner {
		inner.endContext(cause)
	}
}

// State says how far the lease can be relied on now.
func (l *Lease) State() State {
	h := l.hold
	h.checkClock()
	h.q.part.mu.Lock()
	defer h.q.part.mu.Unlock()
	switch {
	case l.released:
		return Released
	case h.state == lost && h.lease == l.root:
		return Lost
	case h.state != possessed:
		return Released
	case h.late.Load():
		return Unconfirmed
	default:
		return Held
	}
}

// Err returns nil while the lock is held, and otherwise why it is not:
// an error matching [ErrLost], [ErrReleased] or [ErrClosed].
func (l *Lease) Err() error {
	if l.State() <= Unconfirmed {
		return nil
	}
	return opError("lease", l.Name(), l.cause())
}

// cause says why the lease is over. That is decided a moment before its context ends: the
// contexts of a lock that was entered several times end one after the other.
func (l *Lease) cause() error {
	l.mu.Lock()
	ended := l.ended
	l.mu.Unlock()
	if ended != nil {
		return ended
	}
	h := l.hold
	h.q.part.mu.Lock()
	defer h.q.part.mu.Unlock()
	if !l.released && h.lease == l.root && h.cause != nil {
		return h.cause
	}
	return ErrReleased
}

// Unlock gives the lock back; of a lock entered several times, only the last
// Unlock does. The lease's context ends.
//
// It works when ctx is over already: what cannot be done at once then goes on
// in the background. The error matches [ErrLost] when the lock had been lost,
// and so the work done under it may have been done by two; [ErrReleased] at a
// second Unlock; [ErrClosed] after [Client.Stop], which gives back what is held;
// [driver.ErrRefused] when the backend refuses to release it, and then it runs out by itself. Of any
// other error [MaybeApplied] is true: the backend did not answer before ctx was over (100 ms
// are left to a context that was over before) or [Options.AnswerTime], and the release is
// repeated in the background until it is certain, the lease has run out, or the client is
// stopped.
func (l *Lease) Unlock(ctx context.Context) error {
	if ctx == nil {
		return errNilContext()
	}
	c := l.hold.q.client
	err := l.hold.unlock(ctx, l)
	if c.opts.Observer != nil && (l.root == l || l.joined) && !errors.Is(err, ErrReleased) {
		c.observe(l.parent, Event{
			Kind: EventLeft, Name: l.Name(), Owner: l.Owner(), Token: l.token, Held: time.Since(l.acquired), Err: err,
		})
	}
	return err
}
