package txn

import (
	"context"
	"iter"
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// Coordinator drives transactions. The embedded engine (package coord) and the
// remote one (package client) are both Coordinators. What they are given is read
// until the call returns, and not after it; what they return is its caller's own.
type Coordinator interface {
	// Submit makes a transaction durable and returns its ID; it is driven from then
	// on. It may be repeated with the same ID and content. A store that cannot be reached is
	// waited for, by a coordinator in this process for as long as ctx lasts: give it an end.
	// The error is an *InDoubtError then: the ID may have been submitted before.
	Submit(ctx context.Context, d Definition) (id string, err error)
	// Run submits and waits for the outcome, like Submit and Wait in one.
	Run(ctx context.Context, d Definition) (Result, error)
	// Wait returns when the transaction is final or parked. The error is nil only
	// if it was committed: *RolledBackError, *ParkedError and *InDoubtError say what
	// else became of it.
	Wait(ctx context.Context, id string) (Result, error)

	// Begin makes a transaction durable that its caller completes: Enlist adds
	// branches, Commit or RollBack decides. Undecided at its deadline it is rolled
	// back, or its producer is asked.
	Begin(ctx context.Context, d Definition) (id string, err error)
	// Enlist adds branches to an open transaction. It may be repeated. ErrDecided
	// when it is too late, or the deadline is over; ErrAction when it was submitted, not
	// begun, and runs.
	Enlist(ctx context.Context, id string, branches ...Branch) error
	// Commit decides an open transaction, parked or not, which then goes on.
	// ErrDecided when it was rolled back, or the deadline is over; ErrAction when it was
	// submitted, not begun, and runs.
	Commit(ctx context.Context, id string) error
	// RollBack decides an open or running transaction, parked or not, which then goes
	// on. ErrDecided when it was committed, or is a saga with forward recovery, which is
	// decided from the start. Of the reason the first [MaxReason] bytes are kept.
	RollBack(ctx context.Context, id, reason string) error
}

// Inspector shows transactions.
type Inspector interface {
	// Get returns one transaction. ErrNotFound when there is none.
	Get(ctx context.Context, id string) (*Transaction, error)
	// List returns transactions, newest first, and of each what its store finds without
	// reading all of it: ID, mode, name, status, why it is parked, what it waits for, times
	// and owner. Get has the rest, also the reason of one that was rolled back.
	List(ctx context.Context, q Query) (Page, error)
	// Watch yields the transaction now and after changes until it is final, the context
	// ends, or the caller stops. Changes that come faster than the caller takes them
	// are skipped, all but the newest. Changes made by other replicas may be seen some
	// seconds late.
	Watch(ctx context.Context, id string) iter.Seq2[*Transaction, error]
}

// Operator intervenes.
type Operator interface {
	// Act intervenes in a transaction. The reason is recorded; none, or one of more than
	// [MaxReason] bytes, is refused.
	Act(ctx context.Context, id string, a Action, reason string) error
}

// Topics keeps the subscribers of messages. A change may be repeated; *InDoubtError, for
// the ID topic/NAME, says that it may have been made.
type Topics interface {
	Subscribe(ctx context.Context, topic string, subscriber Target) error
	Unsubscribe(ctx context.Context, topic string, subscriber Target) error
	Subscribers(ctx context.Context, topic string) ([]Target, error)
}

// Action is an intervention.
type Action string

const (
	// ActRetry calls again now what is waiting to be called.
	ActRetry Action = "retry"
	// ActPark stops a transaction until somebody resumes it.
	ActPark Action = "park"
	// ActResume lets a parked transaction go on, with its attempts renewed.
	ActResume Action = "resume"
	// ActCompensate rolls back a transaction that is not decided, but no saga with
	// forward recovery.
	ActCompensate Action = "compensate"
	// ActAbandon ends a parked transaction in doubt.
	ActAbandon Action = "abandon"
	// ActRemove deletes a final transaction.
	ActRemove Action = "remove"
)

// Actions lists all interventions.
func Actions() []Action {
	return []Action{ActRetry, ActPark, ActResume, ActCompensate, ActAbandon, ActRemove}
}

// Query selects transactions. Zero fields do not select; a status or a mode that there is
// none of is refused.
type Query struct {
	Status []Status
	Mode   string
	Name   string
	Prefix string // of the ID
	Parked bool
	// FinishedBefore selects final transactions that ended before this time.
	FinishedBefore time.Time
	// Before is Page.Next of an earlier answer.
	Before driver.Cursor
	Limit  int // see PageSize
}

// Page is one answer of List.
type Page struct {
	Transactions []*Transaction
	// Next continues the list; its ID is empty at the end.
	Next driver.Cursor
}
