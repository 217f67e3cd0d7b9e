package lock

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"slices"
	"time"
)

// Observer is told what happens to the locks of a client. Observe is called
// from the goroutine to which it happens: it must be quick, safe for concurrent
// use, and must not call the client. If it panics, the log is told.
type Observer interface {
	// Observe receives one event. ctx is the one given to Lock; for EventRenewed
	// and EventLost it is the background context.
	Observe(ctx context.Context, e Event)
}

// EventKind says what happened.
type EventKind string

// Every competitor for a lock is queued, contending, acquired and left, in this
// order; it may leave at any of them. A lease is renewed, and may be lost, and then its token is refused.
const (
	// EventQueued: a goroutine wants the lock.
	EventQueued EventKind = "queued"
	// EventContending: it is the head of its process's queue and asks the backend.
	// A lock passed on locally skips this moment.
	EventContending EventKind = "contending"
	// EventAcquired: it has the lock. Wait says how long it took.
	EventAcquired EventKind = "acquired"
	// EventLeft: it unlocked (Held says how long it had the lock), or gave up (Err
	// says why).
	EventLeft EventKind = "left"
	// EventRenewed: the backend confirmed the lease again. Slack says how much of
	// its life was left: small slack is a lost lock in the making.
	EventRenewed EventKind = "renewed"
	// EventOverdue: the lease will be taken away soon, since the lock has been held for nearly as
	// long as it may be, see [MutexOptions.MaxHold]. Held says for how long.
	EventOverdue EventKind = "overdue"
	// EventAsked: somebody has asked for the lock, see [Client.Ask]. Plea says why, and by when.
	EventAsked EventKind = "asked"
	// EventLost: the lease ended against the holder's will. Err says why, and Held for how long the lock
	// was held.
	EventLost EventKind = "lost"
	// EventRefused: a resource has refused the token of somebody who had lost the lock, for it knows a newer one.
	// It is told where the resource is, by package guard. Err says which token that is.
	EventRefused EventKind = "refused"
)

// Event is something that happened to a lock.
type Event struct {
	Kind  EventKind
	Name  string
	Owner string
	Token uint64
	// Wait is the time from queued to acquired.
	Wait time.Duration
	// Held is the time from acquired to left, overdue, asked or lost.
	Held time.Duration
	// Slack is how much of the lease's life was left at a renewal.
	Slack time.Duration
	// Plea is what was asked.
	Plea Plea
	Err  error
}

// Reason is Err in one word, such as a metric's label wants: unlocked when there is
// none, else lost, held (by somebody else), gone (the caller's context ended) or
// failed.
func (e Event) Reason() string {
	switch {
	case e.Err == nil:
		return "unlocked"
	case errors.Is(e.Err, ErrLost):
		return "lost"
	case errors.Is(e.Err, ErrHeld):
		return "held"
	case errors.Is(e.Err, context.Canceled), errors.Is(e.Err, context.DeadlineExceeded):
		return "gone"
	default:
		return "failed"
	}
}

// Reasons lists what [Event.Reason] may be.
func Reasons() []string { return []string{"unlocked", "lost", "held", "gone", "failed"} }

// guarded is an observer whose panics end neither a goroutine of the client nor a Lock half way,
// at which the name would be shut. The log is told of them.
type guarded struct {
	observer Observer
	log      *slog.Logger
}

// guardObserver guards an observer, and of several each by itself: one that panics does not keep an event
// from the others.
func guardObserver(o Observer, log *slog.Logger) Observer {
	all, several := o.(observers)
	if !several {
		return &guarded{o, log}
	}
	each := make(observers, len(all))
	for i, one := range all {
		each[i] = guardObserver(one, log)
	}
	return each
}

// Observe implements [Observer].
func (g *guarded) Observe(ctx context.Context, e Event) {
	defer func() {
		if p := recover(); p != nil {
			g.log.Error("lock: the observer panicked",
				"event", e.Kind, "name", e.Name, "panic", p, "stack", string(debug.Stack()))
		}
	}()
	g.observer.Observe(ctx, e)
}

// observe tells the observer, if there is one.
func (c *Client) observe(ctx context.Context, e Event) {
	if c.opts.Observer != nil {
		c.opts.Observer.Observe(ctx, e)
	}
}

// Observers returns an observer that tells every one of several, in order, and leaves out those
// that are nil.
func Observers(all ...Observer) Observer {
	return observers(slices.DeleteFunc(slices.Clone(all), func(o Observer) bool { return o == nil }))
}

type observers []Observer

// Observe implements [Observer].
func (o observers) Observe(ctx context.Context, e Event) {
	for _, each := range o {
		each.Observe(ctx, e)
	}
}
