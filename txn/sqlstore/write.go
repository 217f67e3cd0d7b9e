package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/bedrock-go/bedrock/internal/sqlkind"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// op is a write on its way through a writer.
type op struct {
	rec    *driver.Record // the store's own copy
	was    driver.Version
	create bool
	left   atomic.Bool   // its caller left before the writer took it
	taken  atomic.Bool   // the writer has it
	done   chan struct{} // closed when err is set
	err    error
}

// Create implements [driver.Store].
func (s *Store) Create(ctx context.Context, rec *driver.Record) error {
	o := newOp(rec)
	o.create = true
	o.rec.Revision = 1
	if err := s.writeAndWait(ctx, o); err != nil {
		return s.wrap(ctx, "create "+quoted(rec.ID), err)
	}
	rec.Revision = 1
	return nil
}

// Update implements [driver.Store].
func (s *Store) Update(ctx context.Context, was driver.Version, rec *driver.Record) error {
	o := newOp(rec)
	o.was = was
	o.rec.Revision = was.Revision + 1
	if err := s.writeAndWait(ctx, o); err != nil {
		return s.wrap(ctx, "update "+quoted(rec.ID), err)
	}
	rec.Revision = was.Revision + 1
	return nil
}

// newOp copies the record, because the caller may leave and use its own again while this
// one is being written.
func newOp(rec *driver.Record) *op {
	return &op{rec: rec.Clone(), done: make(chan struct{})}
}

// writeAndWait has an operation written and waits for the answer.
func (s *Store) writeAndWait(ctx context.Context, o *op) error {
	if err := o.rec.Check(); err != nil {
		return err
	}
	if err := s.open(ctx); err != nil {
		return err
	}
	w := s.writers[driver.Shard(o.rec.ID)%len(s.writers)]
	if err := w.enqueue(ctx, o); err != nil {
		return err
	}
	select {
	case <-o.done:
		return o.err
	case <-ctx.Done():
		return o.stopWaiting(ctx)
	}
}

// stopWaiting gives up waiting. An operation that the writer has not taken by now, it never
// will.
func (o *op) stopWaiting(ctx context.Context) error {
	o.left.Store(true)
	if !o.taken.Load() {
		return fmt.Errorf("%w: not yet written: %w", driver.ErrUnavailable, ctx.Err())
	}
	return fmt.Errorf("left while it was written: %w", ctx.Err())
}

// takeUnlessLeft reports whether somebody still waits. The order of the two statements
// matters, here and in stopWaiting: each side says what it does before it looks at the
// other.
func (o *op) takeUnlessLeft() bool {
	o.taken.Store(true)
	return !o.left.Load()
}

func (o *op) tellOutcome(err error) {
	o.err = err
	close(o.done)
}

// CreateTx implements [driver.TxCreator].
func (s *Store) CreateTx(ctx context.Context, tx *sql.Tx, rec *driver.Record) error {
	err := rec.Check()
	if err == nil {
		err = s.open(ctx)
	}
	if err == nil {
		err = s.syncer.reliable()
	}
	if err == nil {
		err = s.createTx(ctx, tx, rec)
	}
	if err != nil {
		return s.wrap(ctx, "create "+quoted(rec.ID)+" in the caller's transaction", err)
	}
	rec.Revision = 1
	return nil
}

func (s *Store) createTx(ctx context.Context, tx *sql.Tx, rec *driver.Record) error {
	own := rec.Clone()
	own.Revision = 1
	values := Values(own)
	insert := "INSERT INTO {tx} (" + Columns + ") VALUES (" + sqlkind.Marks(len(values)) + ") " + s.clauses.IfAbsent
	result, err := tx.ExecContext(ctx, s.sql(insert), values...)
	if err != nil {
		if s.verdictOn(err) == Duplicate {
			return driver.ErrExists
		}
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n == 1 {
		return err
	}
	return driver.ErrExists
}

func quoted(id string) string { return strconv.Quote(id) }
