package barrier

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/txn"
)

// settleTimeout bounds the question what became of a commit, which is asked even if
// the producer's own context has ended.
const settleTimeout = 10 * time.Second

// Local makes a message's local transaction of some work, for the Do of package
// msg: it binds the transaction to the message, runs the work and commits.
//
//	id, err := paid.Do(ctx, co, order, b.Local(func(ctx context.Context, tx *sql.Tx) error {
//		_, err := tx.ExecContext(ctx, "UPDATE orders SET paid = 1 WHERE id = ?", order.ID)
//		return err
//	}))
//
// No error: it is committed; with a message that has been bound before, by that
// earlier transaction, and the work is not run again. A refusal ([txn.Abort]): it is
// certainly not committed, and no other one with this message will be, so what failed
// is tried again with another. Another error: not known; Check will find out.
func (b *Barrier) Local(work func(ctx context.Context, tx *sql.Tx) error) func(ctx context.Context, id string) error {
	return func(ctx context.Context, id string) error {
		if err := b.local(ctx, id, work); err != nil {
			return b.findOutcome(ctx, id, err)
		}
		return nil
	}
}

// local runs the local transaction, unless an earlier one was committed. After an error
// it is rolled back, if it has not come to its commit.
func (b *Barrier) local(ctx context.Context, id string, work func(ctx context.Context, tx *sql.Tx) error) error {
	tx, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("barrier: begin work of message %q: %w", id, err)
	}
	defer func() { _ = tx.Rollback() }() // of no effect after the commit
	if err := b.Prepare(ctx, tx, id); err != nil {
		if errors.Is(err, ErrPrepared) {
			return nil
		}
		return err
	}
	if err := work(ctx, tx); err != nil {
		return err
	}
	if err := commit(ctx, tx); err != nil {
		return fmt.Errorf("barrier: commit work of message %q: %w", id, err)
	}
	return nil
}

// findOutcome finds out whether the message's local transaction was committed, after this
// one has failed or its answer was lost. An earlier one may have been committed; and a
// later one could still be, so a no is made to last.
func (b *Barrier) findOutcome(ctx context.Context, id string, failure error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	_, err := b.Check(ctx, txn.Call{Transaction: id})
	switch {
	case err == nil:
		return nil
	case txn.Aborted(err):
		return txn.Abort(failure)
	case txn.Aborted(failure): // which nobody may take for an answer
		return fmt.Errorf("%w; asked because of: %v", err, failure) //nolint:errorlint // see above
	default:
		return failure
	}
}
