package tcc

import (
	"context"
	"time"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/internal/draft"
)

// TCC is a TCC transaction being written, whose tries the coordinator makes. It
// can be run any number of times; once it is written, many goroutines may run it at
// once. Mistakes made while writing are reported by Definition, Submit and Run
// before anything happens. Where the caller makes the tries, use Begin or Do.
type TCC struct{ draft draft.Draft }

// New begins a TCC transaction. The name is for people and metrics, such as
// "order".
func New(name string) *TCC {
	return &TCC{draft: draft.New(Mode{}, name)}
}

// Branch adds a participant that reserves when it is tried, and is then told to
// confirm or to cancel. Tries are made at once, unless After says otherwise.
func (t *TCC) Branch(id string, try, confirm, cancel txn.Target) *TCC {
	t.draft.Add(txn.Branch{ID: id, Do: try, Confirm: confirm, Undo: cancel})
	return t
}

// Compensating adds a participant that cannot reserve: it does its part at once,
// and undoes it if the transaction is rolled back. Others may see what it did
// before the transaction is decided.
func (t *TCC) Compensating(id string, do, compensate txn.Target) *TCC {
	return t.Branch(id, do, "", compensate)
}

// Assured adds a participant that has no part in the decision and cannot refuse. It
// is reached after the commit, through a message of its own that is delivered until
// it is taken; the transaction does not wait for it.
func (t *TCC) Assured(id string, to txn.Target) *TCC {
	return t.Branch(id, "", txn.Async(to), "")
}

// Nested adds the branches of another TCC transaction as if they were one branch.
// They are called id/theirs and are decided together with this transaction. What
// other has no say in is refused: its timeout, its ID.
func (t *TCC) Nested(id string, other *TCC) *TCC {
	if other == nil {
		t.draft.Refuse("nested "+id, "is nil")
		return t
	}
	h := &other.draft.Head
	if h.Timeout != 0 || h.Parallel != 0 || h.ID != "" || h.Headers != nil {
		t.draft.Refuse("nested "+id, "timeout, parallel, headers and ID belong to the outer transaction")
	}
	t.draft.Nest(id, &other.draft)
	return t
}

// After makes the latest branch's try wait for those of other branches. It is
// canceled before them.
func (t *TCC) After(ids ...string) *TCC {
	t.draft.After(ids...)
	return t
}

// Payload is the body of the latest branch's calls, instead of the transaction's.
func (t *TCC) Payload(v any) *TCC {
	t.draft.Payload(v)
	return t
}

// Use puts a field of a try's result into the latest branch's payload, which must
// be a JSON object: Use("seat", "flight.seat") sets seat to the field seat of what
// the try of branch flight returned. Other branches than its own must be named in
// After.
func (t *TCC) Use(field, from string) *TCC {
	t.draft.Use(field, from)
	return t
}

// Policy says how the latest branch is called: how long, how often, and what then.
func (t *TCC) Policy(p txn.Policy) *TCC {
	t.draft.Policy(p)
	return t
}

// Timeout is how long tries are held: a transaction that is not decided by then is
// rolled back. Default DefaultTimeout.
func (t *TCC) Timeout(d time.Duration) *TCC {
	t.draft.Head.Timeout = d
	return t
}

// Parallel bounds how many branches are called at once. Default 16.
func (t *TCC) Parallel(n int) *TCC {
	t.draft.Head.Parallel = n
	return t
}

// Header adds a header to all calls.
func (t *TCC) Header(name, value string) *TCC {
	t.draft.Header(name, value)
	return t
}

// ID is the same transaction under an ID of the caller's choice, which makes it
// safe to submit it twice. The transaction itself is not changed.
func (t *TCC) ID(id string) *TCC { return &TCC{draft: t.draft.WithID(id)} }

// Definition is the transaction in the words of package txn. The payload goes to
// all branches that have none of their own: JSON of any value, or bytes as they
// are.
func (t *TCC) Definition(payload any) (txn.Definition, error) {
	return t.draft.Definition(payload)
}

// Submit hands the transaction over and returns its ID at once.
func (t *TCC) Submit(ctx context.Context, co txn.Coordinator, payload any) (string, error) {
	return t.draft.Submit(ctx, co, payload)
}

// Run hands the transaction over and waits for its outcome. The error is nil only
// if it was committed; see txn.Coordinator.Wait.
func (t *TCC) Run(ctx context.Context, co txn.Coordinator, payload any) (txn.Result, error) {
	return t.draft.Run(ctx, co, payload)
}
