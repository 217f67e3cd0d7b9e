package bedrocktest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// Store is a store of transactions that fails on demand. A call whose context ends
// while it is delayed or frozen returns at once, and reaches the store later all the
// same, as a packet on its way would. What the inner store cannot do it refuses with
// [errors.ErrUnsupported], and cannot be told to fail at.
type Store struct {
	*faults
	inner driver.Store
}

var (
	_ driver.Store     = (*Store)(nil)
	_ driver.TxCreator = (*Store)(nil)
	_ driver.Counter   = (*Store)(nil)
	_ driver.Migrator  = (*Store)(nil)
)

func storeMethods() []Method {
	return []Method{Create, CreateTx, Load, Update, List, Claim, Now, Delete, Count}
}

// lackedByStore lists what is optional and that store does not have.
func lackedByStore(inner driver.Store) (lacking []Method) {
	if _, ok := inner.(driver.TxCreator); !ok {
		lacking = append(lacking, CreateTx)
	}
	if _, ok := inner.(driver.Counter); !ok {
		lacking = append(lacking, Count)
	}
	return lacking
}

// NewStore returns a store that does what inner does until told otherwise.
func NewStore(inner driver.Store) *Store {
	return &Store{faults: newFaults(driver.ErrUnavailable, storeMethods(), lackedByStore(inner)), inner: inner}
}

// Create implements [driver.Store].
func (s *Store) Create(ctx context.Context, rec *driver.Record) error {
	return s.write(ctx, Create, rec, s.inner.Create)
}

// CreateTx implements [driver.TxCreator].
func (s *Store) CreateTx(ctx context.Context, tx *sql.Tx, rec *driver.Record) error {
	inner, ok := s.inner.(driver.TxCreator)
	if !ok {
		return s.lacks("transactions of its user")
	}
	return s.write(ctx, CreateTx, rec, func(ctx context.Context, rec *driver.Record) error {
		return inner.CreateTx(ctx, tx, rec)
	})
}

// Update implements [driver.Store].
func (s *Store) Update(ctx context.Context, was driver.Version, rec *driver.Record) error {
	return s.write(ctx, Update, rec, func(ctx context.Context, rec *driver.Record) error {
		return s.inner.Update(ctx, was, rec)
	})
}

// write hands the store a copy: a call that is late must not read what its caller
// changes meanwhile, and what a lost reply would have told must not be known.
func (s *Store) write(
	ctx context.Context, m Method, rec *driver.Record, call func(context.Context, *driver.Record) error,
) error {
	sent := rec.Clone()
	revision, err := through(ctx, s.faults, m, func(ctx context.Context) (int64, error) {
		err := call(ctx, sent)
		return sent.Revision, err
	})
	if err == nil {
		rec.Revision = revision
	}
	return err
}

// Load implements [driver.Store].
func (s *Store) Load(ctx context.Context, id string) (*driver.Record, error) {
	return through(ctx, s.faults, Load, func(ctx context.Context) (*driver.Record, error) {
		return s.inner.Load(ctx, id)
	})
}

// Claim implements [driver.Store].
func (s *Store) Claim(ctx context.Context, c driver.Claim) (driver.Claimed, error) {
	return through(ctx, s.faults, Claim, func(ctx context.Context) (driver.Claimed, error) {
		return s.inner.Claim(ctx, c)
	})
}

// Now implements [driver.Store].
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	return through(ctx, s.faults, Now, s.inner.Now)
}

// List implements [driver.Store].
func (s *Store) List(ctx context.Context, q driver.Query) ([]*driver.Record, error) {
	return through(ctx, s.faults, List, func(ctx context.Context) ([]*driver.Record, error) {
		return s.inner.List(ctx, q)
	})
}

// Delete implements [driver.Store].
func (s *Store) Delete(ctx context.Context, refs []driver.Ref) (int, error) {
	return through(ctx, s.faults, Delete, func(ctx context.Context) (int, error) {
		return s.inner.Delete(ctx, refs)
	})
}

// Count implements [driver.Counter].
func (s *Store) Count(ctx context.Context) (driver.Counts, error) {
	inner, ok := s.inner.(driver.Counter)
	if !ok {
		return driver.Counts{}, s.lacks("counting")
	}
	return through(ctx, s.faults, Count, inner.Count)
}

// Migrate implements [driver.Migrator]; it does not fail on demand.
func (s *Store) Migrate(ctx context.Context) (from, to int, err error) {
	inner, ok := s.inner.(driver.Migrator)
	if !ok {
		return 0, 0, s.lacks("a schema")
	}
	return inner.Migrate(ctx)
}

// Close implements [driver.Store]. It waits for calls that are delayed, and for frozen
// ones until they are thawed.
func (s *Store) Close() error {
	s.late.waitNone()
	return s.inner.Close()
}

func (s *Store) lacks(what string) error {
	return fmt.Errorf("bedrocktest: the store lacks %s: %w", what, errors.ErrUnsupported)
}
