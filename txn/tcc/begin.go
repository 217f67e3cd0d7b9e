package tcc

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/internal/words"
)

// Options say how a transaction is begun. The zero value, and nil, mean the
// defaults.
type Options struct {
	// ID identifies the transaction. Defaults to one made up by the coordinator.
	ID string
	// Timeout is how long tries are held: a transaction that is neither committed
	// nor canceled by then is canceled. Defaults to DefaultTimeout.
	Timeout time.Duration
	// Payload is the body of all confirms and cancels that have none of their own.
	Payload any
	// Headers travel with every call.
	Headers map[string]string
}

// Branch is a participant that the caller tries.
type Branch struct {
	ID string
	// Confirm and Cancel are called after the decision. Either may be empty.
	Confirm, Cancel txn.Target
	// Payload is the body of both calls. Defaults to the transaction's.
	Payload any
	// Policy says how they are called. Nil means the defaults.
	Policy *txn.Policy
}

// Transaction is a TCC transaction that its caller drives up to the decision.
type Transaction struct{ Scope }

// Scope is a place in a transaction where branches can be tried: all of it, or
// what lies below one branch. Its methods may be called by many goroutines at once.
type Scope struct {
	co       txn.Coordinator
	id       string
	prefix   string
	deadline time.Time
	headers  map[string]string
}

// Begin makes a transaction durable, without branches yet.
func Begin(ctx context.Context, co txn.Coordinator, name string, opts *Options) (*Transaction, error) {
	o := Options{}
	if opts != nil {
		o = *opts
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	payload, err := txn.Encode(o.Payload)
	if err != nil {
		return nil, &txn.InvalidError{Field: "payload", Problem: err.Error()}
	}
	headers := maps.Clone(o.Headers) // for the tries to come
	id, err := co.Begin(ctx, txn.Definition{
		ID: o.ID, Mode: Name, Name: name, Payload: payload, Timeout: o.Timeout, Headers: headers,
	})
	if err != nil {
		return nil, fmt.Errorf("begin %s: %w", name, inWords(err))
	}
	// Taken when the coordinator's clock runs, so it is not the earlier one: a participant
	// that is told it must not let go of what can still be committed.
	deadline := time.Now().Add(o.Timeout)
	return &Transaction{Scope{co: co, id: id, deadline: deadline, headers: headers}}, nil
}

// Join lets a participant add branches below its own: the call is the one it was
// tried with, see txn.CallFrom. Their IDs get the branch's as a prefix, and whoever
// began the transaction decides them.
func Join(co txn.Coordinator, call txn.Call) *Scope {
	return &Scope{
		co: co, id: call.Transaction, prefix: call.Branch + "/", deadline: call.Deadline, headers: call.Headers,
	}
}

// ID is the transaction's.
func (s *Scope) ID() string { return s.id }

// Below is the scope whose branches are called id/theirs.
func (s *Scope) Below(id string) *Scope {
	below := *s
	below.prefix += id + "/"
	return &below
}

// Try makes the branch known to the coordinator, and then calls try, which reserves
// at the participant. In this order, because a reservation nobody knows of would
// never be let go. Participants must therefore bear a cancel without a try before
// it, and refuse a try that comes after its cancel; package barrier does both. The
// context given to try carries the call (txn.CallFrom) and ends at the deadline.
// After an error the transaction is to be canceled.
func (s *Scope) Try(ctx context.Context, b Branch, try func(ctx context.Context) error) error {
	if try == nil {
		return &txn.InvalidError{Field: "try", Problem: "is nil"}
	}
	branch, err := s.branch(b)
	if err != nil {
		return err
	}
	if err := s.co.Enlist(ctx, s.id, branch); err != nil {
		return fmt.Errorf("enlist %s: %w", branch.ID, inWords(err))
	}
	ctx, cancel := s.until(txn.ContextWithCall(ctx, s.tryCall(&branch)))
	defer cancel()
	if err := try(ctx); err != nil {
		return fmt.Errorf("try %s: %w", branch.ID, err)
	}
	return nil
}

// Assured adds a participant that is reached after the commit, through a message of
// its own; see TCC.Assured.
func (s *Scope) Assured(ctx context.Context, id string, to txn.Target, payload any) error {
	branch, err := s.branch(Branch{ID: id, Confirm: txn.Async(to), Payload: payload})
	if err != nil {
		return err
	}
	if err := s.co.Enlist(ctx, s.id, branch); err != nil {
		return fmt.Errorf("enlist %s: %w", branch.ID, inWords(err))
	}
	return nil
}

func (s *Scope) branch(b Branch) (txn.Branch, error) {
	payload, err := txn.Encode(b.Payload)
	if err != nil {
		return txn.Branch{}, &txn.InvalidError{Field: "payload of " + b.ID, Problem: err.Error()}
	}
	return txn.Branch{ID: s.prefix + b.ID, Confirm: b.Confirm, Undo: b.Cancel, Payload: payload, Policy: b.Policy}, nil
}

// inWords tells what is refused in the words of the mode.
func inWords(err error) error { return words.Error(err, Mode{}.Fields()) }

// tryCall identifies the try as if the coordinator had made it.
func (s *Scope) tryCall(b *txn.Branch) txn.Call {
	return txn.Call{
		Transaction: s.id, Branch: b.ID, Op: Mode{}.Op(txn.PhaseDo), Mode: Name, Attempt: 1,
		Payload: b.Payload, Deadline: s.deadline, Headers: maps.Clone(s.headers),
	}
}

func (s *Scope) until(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.deadline.IsZero() {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, s.deadline)
}

// Commit decides that all tries are to be confirmed. ErrDecided when the
// transaction was rolled back before, most likely at its deadline.
func (t *Transaction) Commit(ctx context.Context) error { return t.co.Commit(ctx, t.id) }

// Cancel decides that all tries are to be let go. ErrDecided when the transaction
// was committed before.
func (t *Transaction) Cancel(ctx context.Context, reason string) error {
	return t.co.RollBack(ctx, t.id, reason)
}

// Wait returns when all branches know the decision. The error is nil only if it was
// to commit; see txn.Coordinator.Wait.
func (t *Transaction) Wait(ctx context.Context) (txn.Result, error) { return t.co.Wait(ctx, t.id) }
