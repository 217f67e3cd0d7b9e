package barrier

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/txn"
)

// settleTimeout bounds what is still to be said to the coordinator, and asked of the
// database, after the producer's own context has ended.
const settleTimeout = 10 * time.Second

// Send delivers a message if, and only if, the work is committed: it begins the
// message, runs the work in a local transaction that is bound to it, and tells the
// coordinator. Should that not get through, the coordinator asks back, so the
// message needs a check whose target is Check.
//
// Without an error the work is committed, and the message will be delivered. After
// a *txn.InDoubtError both may be, or neither; any other error: neither. A message
// sent again under its ID is delivered once, and the work is not run again.
func (b *Barrier) Send(ctx context.Context, co txn.Coordinator, d txn.Definition, work func(ctx context.Context, tx *sql.Tx) error) (id string, err error) {
	if d.Check == nil {
		return "", &txn.FieldError{Field: "check", Problem: "a message bound to a local transaction needs one"}
	}
	id, err = co.Begin(ctx, d)
	if err != nil {
		return "", err
	}
	err = b.produce(ctx, id, work)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	var unsure *commitError
	if errors.As(err, &unsure) {
		err = b.settle(ctx, id, unsure.error)
	}
	return id, tell(ctx, co, id, err)
}

// commitError is a commit that may have happened.
type commitError struct{ error }

func (e *commitError) Unwrap() error { return e.error }

// produce runs the local transaction of a message.
func (b *Barrier) produce(ctx context.Context, id string, work func(ctx context.Context, tx *sql.Tx) error) error {
	tx, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("barrier: begin work of message %q: %w", id, err)
	}
	defer func() { _ = tx.Rollback() }() // of no effect after the commit
	if err := b.Prepare(ctx, tx, id); err != nil {
		return err
	}
	if err := work(ctx, tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return &commitError{fmt.Errorf("barrier: commit work of message %q: %w", id, err)}
	}
	return nil
}

// settle finds out what became of a commit, as the coordinator would.
func (b *Barrier) settle(ctx context.Context, id string, commit error) error {
	_, err := b.Check(ctx, txn.Call{Transaction: id})
	switch {
	case err == nil:
		return nil
	case txn.Aborted(err):
		return commit
	default:
		return &txn.InDoubtError{ID: id, Err: commit}
	}
}

// tell passes the outcome of the work on. It need not get through: a coordinator
// that hears nothing will ask.
func tell(ctx context.Context, co txn.Coordinator, id string, outcome error) error {
	var doubt *txn.InDoubtError
	switch {
	case outcome == nil, errors.Is(outcome, ErrPrepared):
		if err := co.Commit(ctx, id); errors.Is(err, txn.ErrDecided) {
			return fmt.Errorf("barrier: work of message %q is committed, but not delivered: %w", id, err)
		}
		return nil
	case errors.As(outcome, &doubt), errors.Is(outcome, ErrRolledBack):
		return outcome
	default:
		_ = co.RollBack(ctx, id, outcome.Error())
		return outcome
	}
}
