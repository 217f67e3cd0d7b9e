package barrier

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/internal/sqlkind"
	"github.com/bedrock-go/bedrock/txn"
)

// Options tunes a Barrier. The zero value is the default.
type Options struct {
	// Table is where the barrier keeps its marks. Defaults to bedrock_barrier, in
	// DTM's layout to dtm_barrier.barrier. It must be in the database of the
	// business data, or on MySQL in another one of the same server.
	Table string
	// Layout defaults to Native.
	Layout Layout
	// SkippedFunc is told of every call whose work was not run, and why: a place for
	// a log line or a counter. If it panics, the call is answered all the same, and
	// [slog.Default] is told. Defaults to nothing.
	SkippedFunc func(ctx context.Context, call txn.Call, v Verdict)
}

// Barrier lets each call of a coordinator take effect once, in the same local
// transaction as its work. It may be used by many goroutines at once.
type Barrier struct {
	db      *sql.DB
	layout  *layout
	skipped func(ctx context.Context, call txn.Call, v Verdict)
}

// New returns a barrier over the database that holds the business data. It does
// not touch the database; Migrate makes the table.
func New(db *sql.DB, dialect Dialect, opts *Options) (*Barrier, error) {
	if opts == nil {
		opts = &Options{}
	}
	l, err := newLayout(dialect, opts.Layout, opts.Table)
	if err != nil {
		return nil, fmt.Errorf("barrier: %w", err)
	}
	if db == nil {
		return nil, fmt.Errorf("barrier: %w", input.Errorf("db", "is nil"))
	}
	b := &Barrier{db: db, layout: l, skipped: opts.SkippedFunc}
	if b.skipped == nil {
		b.skipped = func(context.Context, txn.Call, Verdict) {}
	}
	return b, nil
}

// Work is what a participant does within its local transaction. An error rolls the
// transaction back; the coordinator understands the errors of a [txn.Func]. Do
// not commit here, and return what a statement has failed with: after a deadlock
// MySQL has rolled the transaction back, the mark with it, and what comes next
// would be committed by itself, once for each delivery.
type Work func(ctx context.Context, tx *sql.Tx) (result []byte, err error)

// enterTries bounds how often a call is tried again after a deadlock at the barrier. No
// work has run by then, so nobody notices.
const enterTries = 5

// Do runs the work of a call unless it must not run, and commits it together with
// the mark that says so. A duplicate gets the first result; the verdict says why
// work was skipped. The answer is meant for the coordinator as it is:
//
//   - no error: done, now or earlier, or nothing to take back
//   - a refusal ([txn.Aborted]): nothing was done, and nothing will be
//   - another error: not known, or not done. The call may be repeated.
//
// Work runs at most once in one Do.
func (b *Barrier) Do(ctx context.Context, call txn.Call, work Work) (result []byte, v Verdict, err error) {
	if err := b.layout.check(call); err != nil {
		return nil, Undecided, err
	}
	p := &passage{call: call}
	for try := 1; ; try++ {
		result, v, err = b.attempt(ctx, p, work)
		if p.ran || try == enterTries || b.layout.dialect.kind().Classify(err) != sqlkind.Deadlocked {
			break
		}
		if err := pauseAfterDeadlock(ctx, try); err != nil {
			return nil, Undecided, p.wrap("enter", err)
		}
	}
	b.reportSkipped(ctx, p, v)
	return result, v, err
}

// reportSkipped tells of calls that were answered without their work. Were it left to panic, a
// repeated call would never be answered, however often it is made.
func (b *Barrier) reportSkipped(ctx context.Context, p *passage, v Verdict) {
	defer func() {
		if cause := recover(); cause != nil {
			slog.ErrorContext(ctx, "barrier: SkippedFunc panicked", "transaction", p.call.Transaction,
				"panic", cause, "stack", string(debug.Stack()))
		}
	}()
	if !p.ran && v != Undecided {
		b.skipped(ctx, p.call, v)
	}
}

// attempt is one local transaction.
func (b *Barrier) attempt(ctx context.Context, p *passage, work Work) ([]byte, Verdict, error) {
	tx, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, Undecided, p.wrap("begin", err)
	}
	defer func() { _ = tx.Rollback() }() // of no effect after the commit
	result, v, err := b.pass(ctx, tx, p, func(ctx context.Context) ([]byte, error) { return work(ctx, tx) })
	switch {
	case p.ran && txn.Aborted(err):
		if err := tx.Rollback(); err != nil && !errors.Is(err, sql.ErrTxDone) {
			return nil, Undecided, p.wrap("roll back", err)
		}
		return b.Refuse(ctx, p.call, err)
	case err != nil:
		return nil, v, err
	}
	if err := commit(ctx, tx); err != nil {
		return nil, Undecided, p.wrap("commit", err)
	}
	return result, v, nil
}

// commit returns ctx's error where database/sql only says that the transaction was rolled
// back, which it does when ctx ends.
func commit(ctx context.Context, tx *sql.Tx) error {
	err := tx.Commit()
	if errors.Is(err, sql.ErrTxDone) && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// Tx is a local transaction: a *sql.Tx, or a *sql.Conn on which one was begun.
type Tx interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// In is Do inside a transaction that the caller has begun and will end. Commit it
// if there is no error, whether the work ran or not, and roll it back otherwise.
// After a refusal of the business, roll back and answer with what Refuse returns,
// or else a late delivery of the same call may do what this one did not.
//
// Enter the barrier before reading business data: what was read earlier may be
// what a concurrent duplicate has changed since.
func (b *Barrier) In(
	ctx context.Context, tx Tx, call txn.Call, work func(ctx context.Context) (result []byte, err error),
) ([]byte, Verdict, error) {
	if err := b.layout.check(call); err != nil {
		return nil, Undecided, err
	}
	p := &passage{call: call}
	result, v, err := b.pass(ctx, tx, p, work)
	b.reportSkipped(ctx, p, v)
	return result, v, err
}
