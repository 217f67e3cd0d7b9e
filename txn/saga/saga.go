package saga

import (
	"context"
	"time"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/internal/draft"
)

// Saga is a saga being written, and then run, any number of times. Once it is
// written, many goroutines may run it at once. Mistakes made while writing are
// reported by Definition, Submit and Run before anything happens.
type Saga struct{ draft draft.Draft }

// New begins a saga. The name is for people and metrics, such as "order".
func New(name string) *Saga {
	return &Saga{draft: draft.New(Mode{}, name)}
}

// Step adds a step: its action goes forward; what compensates it is empty where there
// is nothing to compensate. The step comes after the one before it, unless After
// says otherwise. The ID is part of what identifies the calls, so it must not
// change while sagas are under way.
func (s *Saga) Step(id string, action, compensate txn.Target) *Saga {
	before := s.draft.Latest()
	s.draft.Add(txn.Branch{ID: id, Do: action, Undo: compensate})
	return s.waitFor(before)
}

// Nested adds the steps of another saga as if they were one step. They are called
// id/theirs, run in their own order, and are compensated together with this saga.
// What other has no say in is refused: its timeout, its recovery, its ID.
func (s *Saga) Nested(id string, other *Saga) *Saga {
	if other == nil {
		s.draft.Refuse("nested "+id, "is nil")
		return s
	}
	h := &other.draft.Head
	if h.Timeout != 0 || h.Recovery != "" || h.Parallel != 0 || h.ID != "" || h.Headers != nil {
		s.draft.Refuse("nested "+id, "timeout, recovery, parallel, headers and ID belong to the outer saga")
	}
	before := s.draft.Latest()
	s.draft.Nest(id, &other.draft)
	return s.waitFor(before)
}

// waitFor makes the latest step wait for the one before it.
func (s *Saga) waitFor(before string) *Saga {
	if before != "" {
		s.draft.After(before)
	}
	return s
}

// After makes the latest step wait for these steps instead of the one before it;
// without any, for none. Steps that do not wait for one another run at once.
// Compensation goes the same ways back.
func (s *Saga) After(ids ...string) *Saga {
	s.draft.After(ids...)
	return s
}

// Payload is the body of the latest step's calls, instead of the saga's.
func (s *Saga) Payload(v any) *Saga {
	s.draft.Payload(v)
	return s
}

// Use puts a field of an earlier step's result into the latest step's payload,
// which must be a JSON object: Use("paymentId", "charge.id") sets paymentId to the
// field id of what step charge returned, and Use("payment", "charge") takes all of
// it. A compensation may use the result of its own step.
func (s *Saga) Use(field, from string) *Saga {
	s.draft.Use(field, from)
	return s
}

// Policy says how the latest step is called: how long, how often, and what then.
func (s *Saga) Policy(p txn.Policy) *Saga {
	s.draft.Policy(p)
	return s
}

// Timeout rolls the saga back if it is not done by then. Default: never.
func (s *Saga) Timeout(d time.Duration) *Saga {
	s.draft.Head.Timeout = d
	return s
}

// Parallel bounds how many steps are called at once. Default 16.
func (s *Saga) Parallel(n int) *Saga {
	s.draft.Head.Parallel = n
	return s
}

// Forward makes the saga go on until all steps are done: it is never rolled back.
// A step that is refused, or has no attempts left, waits for a person.
func (s *Saga) Forward() *Saga {
	s.draft.Head.Recovery = txn.Forward
	return s
}

// Backward makes the saga compensate what was done when a step cannot be. It is
// the default.
func (s *Saga) Backward() *Saga {
	s.draft.Head.Recovery = txn.Backward
	return s
}

// Header adds a header to all calls.
func (s *Saga) Header(name, value string) *Saga {
	s.draft.Header(name, value)
	return s
}

// ID is the same saga under an ID of the caller's choice, which makes it safe to
// submit it twice. The saga itself is not changed.
func (s *Saga) ID(id string) *Saga { return &Saga{draft: s.draft.WithID(id)} }

// Definition is the saga in the words of package txn. The payload goes to all
// steps that have none of their own: JSON of any value, or bytes as they are.
func (s *Saga) Definition(payload any) (txn.Definition, error) {
	return s.draft.Definition(payload)
}

// Submit hands the saga over and returns its ID at once.
func (s *Saga) Submit(ctx context.Context, co txn.Coordinator, payload any) (string, error) {
	return s.draft.Submit(ctx, co, payload)
}

// Run hands the saga over and waits for its outcome. The error is nil only if it
// was committed; see txn.Coordinator.Wait.
func (s *Saga) Run(ctx context.Context, co txn.Coordinator, payload any) (txn.Result, error) {
	return s.draft.Run(ctx, co, payload)
}
