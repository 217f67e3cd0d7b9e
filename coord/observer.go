package coord

import (
	"context"
	"time"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/plan"
)

// Observer is told what happens. It is called where it happens and must be quick.
type Observer interface {
	Observe(e Event)
}

// EventKind says what happened.
type EventKind string

const (
	// Submitted means that a transaction was accepted.
	Submitted EventKind = "submitted"
	// Decided means that commit or roll back was chosen.
	Decided EventKind = "decided"
	// Finished means that a transaction is final. Took is its age.
	Finished EventKind = "finished"
	// Parked means that a transaction waits for a person.
	Parked EventKind = "parked"
	// Called means that a participant answered, or did not. Took is the call's length.
	Called EventKind = "called"
	// Claimed means that transactions were taken over; Count says how many.
	Claimed EventKind = "claimed"
	// Fenced means that this coordinator was overtaken by another and let go.
	Fenced EventKind = "fenced"
	// BreakerOpened means that a target is held to be down.
	BreakerOpened EventKind = "breaker-opened"
	// BreakerClosed means that it is up again, or that nothing waits for it any more,
	// which Reason then says.
	BreakerClosed EventKind = "breaker-closed"
	// Removed means that final transactions were deleted; Count says how many.
	Removed EventKind = "removed"
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
	Answer plan.Kind
	Took   time.Duration
	Count  int
	Reason string
}

// Tracing carries trace contexts through transactions.
type Tracing interface {
	// Submit returns headers to keep with a transaction, so that calls made later,
	// perhaps elsewhere, belong to the trace of its submission.
	Submit(ctx context.Context, d *txn.Definition) map[string]string
	// Call begins a span. The headers it returns travel with the call instead of the
	// transaction's own; end ends the span.
	Call(ctx context.Context, call *txn.Call, target txn.Target) (headers map[string]string, end func(plan.Answer))
}

// quiet observes nothing and traces nothing.
type quiet struct{}

func (quiet) Observe(Event) {}

func (quiet) Submit(context.Context, *txn.Definition) map[string]string { return nil }

func (quiet) Call(_ context.Context, call *txn.Call, _ txn.Target) (map[string]string, func(plan.Answer)) {
	return call.Headers, func(plan.Answer) {}
}
