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
//	id, err := paid.Do(ctx, coordinator, order, b.Local(func(ctx context.Context, tx *sql.Tx) error {
//		_, err := tx.ExecContext(ctx, "UPDATE orders SET paid = 1 WHERE id = ?", order.ID)
//		return err
//	}))
//
// No error: it is committed; with a message that has been bound before, by that
// earlier transaction, and the work is not run again. A refusal ([txn.Abort]): it is
// certainly not committed. Another error: not known; Check will find out.
func (b *Barrier) Local(work func(ctx context.Context, tx *sql.Tx) error) func(ctx context.Context, id string) error {
	return func(ctx context.Context, id string) error {
		committing, err := b.local(ctx, id, work)
		switch {
		case err == nil, errors.Is(err, ErrPrepared):
			return nil
		case committing:
			return b.settle(ctx, id, err)
		case txn.Aborted(err):
			return err
		default:
			return txn.Abort(err)
		}
	}
}

// local runs the local transaction and tells whether it came to its commit.
func (b *Barrier) local(ctx context.Context, id string, work func(ctx context.Context, tx *sql.Tx) error) (committing bool, err error) {
	tx, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return false, fmt.Errorf("barrier: begin work of message %q: %w", id, err)
	}
	defer func() { _ = tx.Rollback() }() // of no effect after the commit
	if err := b.Prepare(ctx, tx, id); err != nil {
		return false, err
	}
	if err := work(ctx, tx); err != nil {
		return false, err
	}
	if err := commit(ctx, tx); err != nil {
		return true, fmt.Errorf("barrier: commit work of message %q: %w", id, err)
	}
	return true, nil
}

// settle finds out what became of a commit that has failed, or of which only the
// answer was lost.
func (b *Barrier) settle(ctx context.Context, id string, failure error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	_, err := b.Check(ctx, txn.Call{Transaction: id})
	switch {
	case err == nil:
		return nil
	case txn.Aborted(err):
		return txn.Abort(failure)
	default:
		return failure
	}
}
