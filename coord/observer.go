package coord

import (
	"context"
	"log/slog"
	"runtime/debug"
	"slices"
	"time"

	"github.com/bedrock-go/bedrock/txn"
)

// Observer is told what happens. The goroutine in which it happens calls it: it must be
// quick, safe for concurrent use, and must not call the coordinator. If it panics, the log is
// told.
type Observer interface {
	// Observe receives one event. ctx is the one given to Submit, SubmitTx, Run or Begin for
	// EventSubmitted; for EventCalled it is that under which the transaction's calls are made,
	// which may have ended; otherwise it is the background context.
	Observe(ctx context.Context, e Event)
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

// guarded is an observer whose panics do not end the process, or the work of which it was told.
// The log is told of them.
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
			g.log.Error("observer panicked", "event", e.Kind, "id", e.ID, "panic", p, "stack", string(debug.Stack()))
		}
	}()
	g.observer.Observe(ctx, e)
}

// observe tells of an event that happened in nobody's call of the coordinator.
func (c *Coordinator) observe(e Event) { c.opts.Observer.Observe(context.Background(), e) }

// EventKind says what happened.
type EventKind string

const (
	// EventSubmitted means that a transaction was accepted. It comes before all other
	// events of the transaction, unless that found no room here and is claimed at the same
	// moment. SubmitTx tells it before the SQL transaction is committed.
	EventSubmitted EventKind = "submitted"
	// EventDecided means that commit or roll back was chosen.
	EventDecided EventKind = "decided"
	// EventFinished means that a transaction is final. Took is its age.
	EventFinished EventKind = "finished"
	// EventParked means that a transaction waits for a person.
	EventParked EventKind = "parked"
	// EventCalled means that a call of a participant has ended, with an answer or without.
	// Took is the call's length.
	EventCalled EventKind = "called"
	// EventClaimed means that transactions were taken over; Count says how many.
	EventClaimed EventKind = "claimed"
	// EventFenced means that a transaction was taken over by another coordinator, and this
	// one let it go.
	EventFenced EventKind = "fenced"
	// EventBreakerOpened means that a target counts as down.
	EventBreakerOpened EventKind = "breaker-opened"
	// EventBreakerClosed means that a target is up again, that nothing waits for it any
	// more, or that the coordinator has stopped; Reason says so of the last two.
	EventBreakerClosed EventKind = "breaker-closed"
	// EventRemoved means that final transactions were deleted; Count says how many.
	EventRemoved EventKind = "removed"
)

// Event is one thing that happened. Fields without a meaning are zero.
type Event struct {
	Kind   EventKind
	ID     string
	Mode   string
	Name   string
	Status txn.Status
	Branch string
	Op     string
	Target txn.Target
	Answer txn.AnswerKind
	Took   time.Duration
	Count  int
	Reason string
}

// Tracing carries trace contexts through transactions. If it panics, the log is told, and what was to
// be traced goes on without it.
type Tracing interface {
	// Submit returns headers to keep with a transaction, so that calls made later,
	// perhaps elsewhere, belong to the trace of its submission.
	Submit(ctx context.Context, d *txn.Definition) map[string]string
	// Call begins a span. The headers it returns travel with the call instead of the
	// transaction's own; end ends the span.
	Call(ctx context.Context, call *txn.Call, target txn.Target) (headers map[string]string, end func(txn.Answer))
}

// quiet observes nothing and traces nothing.
type quiet struct{}

func (quiet) Observe(context.Context, Event) {}

func (quiet) Submit(context.Context, *txn.Definition) map[string]string { return nil }

func (quiet) Call(_ context.Context, call *txn.Call, _ txn.Target) (map[string]string, func(txn.Answer)) {
	return call.Headers, func(txn.Answer) {}
}
