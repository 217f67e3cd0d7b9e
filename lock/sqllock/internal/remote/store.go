// Package remote keeps locks in a database that has a server. A step is a transaction that has the rows of its names.
package remote

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/internal/sqlkind"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/internal/outcome"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/keeper"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/ledger"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/rows"
)

// Dialect is what sets one kind of database apart.
type Dialect struct {
	Kind sqlkind.Kind
	// Classify says what an error of the database means.
	Classify func(error) sqlkind.Class
	// Prepares says that statements are prepared once, which the driver does not do.
	Prepares bool
	// Begin begins a transaction that writes: it reads what others have written before it had the rows. Who falls
	// silent in it must not keep others from them.
	Begin []string
	// BeginReading begins a transaction all of whose answers are of one moment.
	BeginReading []string
	// Commit commits a transaction, and fails where the database would roll it back.
	Commit string
	// IsMissing reports whether a table is not there.
	IsMissing func(error) bool
	// IsDenied reports whether an account may not do something.
	IsDenied func(error) bool
	// Refuses says why locks cannot be kept over a connection. It is asked once.
	Refuses func(ctx context.Context, q rows.Querier) error
	// LeftNothing reports whether a statement that is its own transaction, and has failed so, has left nothing behind
	// for certain.
	LeftNothing func(error) bool
	// CleanUp returns what is closed when the driver has told the server that nobody waits for an answer over a
	// connection, nil if it has not to; it is nil where no driver does.
	CleanUp func(driverConn any) <-chan struct{}
	// ReadsOnly says why a server takes no writes, empty if it does. It is nil where the server's errors say so.
	ReadsOnly func(ctx context.Context, db *sql.DB) (string, error)
	// Advise says what to do about an error, empty if that is not known. It is nil where it never is.
	Advise func(error) string
	// Alone runs fn while nobody else who makes the tables does.
	Alone func(ctx context.Context, db *sql.DB, fn func(rows.Querier) error) error
	// Tell tells of what a step has changed, within its transaction; nil where nothing can.
	Tell func(ctx context.Context, q rows.Querier, states []*ledger.State) error
}

// Store implements [keeper.Store].
type Store struct {
	DB      *sql.DB
	Layout  *rows.Layout
	Dialect Dialect
	// AsIs leaves the schema alone: what is not there is somebody else's to make.
	AsIs bool

	room     room
	skips    atomic.Int32 // whether taken rows can be left out: 0 as long as nobody knows
	prepared prepared
	underway underway
	leftover leftover
	reached  atomic.Bool // by a connection

	setUp   chan struct{} // one slot, of whoever makes the tables
	mu      sync.Mutex
	about   rows.About
	ready   bool
	lacking bool // a table, although the one is there that says what the store is
	sweeper keeper.Sweeper
}

// New returns a store whose tables are called so.
func New(db *sql.DB, table string, dialect Dialect) *Store {
	s := &Store{
		DB: db, Layout: rows.NewLayout(dialect.Kind, table), Dialect: dialect, setUp: make(chan struct{}, 1),
		room: room{db: db}, prepared: newPrepared(db),
	}
	s.underway.start()
	return s
}

// Client implements [keeper.Store]. Nobody looks whether a process is alive.
func (s *Store) Client() string { return "" }

// Write implements [keeper.Store].
func (s *Store) Write(ctx context.Context, step *keeper.Step) error {
	write := func(ctx context.Context) error {
		return s.Run(ctx, func() error { return s.transact(ctx, step) })
	}
	var err error
	if step.Renews {
		step.Free = step.Free && s.SkipsTaken(ctx)
		err = write(ctx)
	} else {
		err = s.InRoom(ctx, step.Names[0], write)
	}
	if err == nil {
		s.sweepIdle()
	}
	return err
}

// Read implements [keeper.Store].
func (s *Store) Read(ctx context.Context, step *keeper.Step) error {
	return s.Run(ctx, func() error {
		return s.Reading(ctx, func(q rows.Querier) error { return s.readStates(ctx, q, step) })
	})
}

// Run does something with the tables, which are made if they are not there, until it has met nobody.
func (s *Store) Run(ctx context.Context, do func() error) error {
	if err := s.Prepare(ctx); err != nil {
		return err
	}
	err := s.Repeat(ctx, do)
	if !s.Dialect.IsMissing(err) && !errors.Is(err, errNoRow) {
		return err
	}
	s.mu.Lock()
	s.ready, s.lacking = false, s.Dialect.IsMissing(err) // somebody has dropped or emptied them
	s.mu.Unlock()
	if err := s.Prepare(ctx); err != nil {
		return err
	}
	return s.Repeat(ctx, do)
}

// Reading reads in a transaction of its own, which ends with it also where nothing is committed by itself. All that it
// reads is of one moment.
func (s *Store) Reading(ctx context.Context, fn func(q rows.Querier) error) error {
	tx, err := s.beginTx(ctx, s.Dialect.BeginReading)
	if err != nil {
		return s.Unwritten(err)
	}
	defer tx.RollBack(ctx) // it has written nothing
	return s.Unwritten(fn(tx))
}

func (s *Store) readStates(ctx context.Context, q rows.Querier, step *keeper.Step) error {
	states := make([]*ledger.State, len(step.Names))
	var now int64
	for i, name := range step.Names {
		row, err := s.Layout.Load(ctx, q, name, step.ID)
		if err != nil {
			return err
		}
		states[i], now = row.State, max(now, row.Now)
	}
	step.Decide(s.clock(now), states)
	return nil
}

// Held implements [keeper.Store].
func (s *Store) Held(ctx context.Context, prefix, after string, n int) ([]string, error) {
	var names []string
	err := s.Run(ctx, func() error {
		return s.Reading(ctx, func(q rows.Querier) (err error) {
			names, err = s.Layout.Held(ctx, q, prefix, after, n)
			return err
		})
	})
	return names, err
}

func (s *Store) clock(now int64) *ledger.Clock {
	return &ledger.Clock{Now: now, Wall: now, Age: time.Duration(now-s.About().Began) * time.Microsecond}
}

// The pauses of who has met others.
const (
	attempts     = 50
	longestPause = 20 * time.Millisecond
)

// Repeat does something until it has met nobody.
func (s *Store) Repeat(ctx context.Context, do func() error) error {
	for n := 1; ; n++ {
		err := do()
		if err == nil || n == attempts || !s.Dialect.Classify(err).Collided() && !errors.Is(err, errNoRow) {
			return s.Explain(ctx, err)
		}
		if !sleep.For(ctx, rand.N(longestPause*time.Duration(n)/attempts)+1) {
			return keeper.Unavailable(ctx.Err())
		}
	}
}

// errNoRow says that a name has no row yet, or no more.
var errNoRow = fmt.Errorf("%w: its row is not there", driver.ErrUnavailable)

// transact makes one try of a step. Before its commit is sent nothing has happened, and nothing will.
func (s *Store) transact(ctx context.Context, step *keeper.Step) (err error) {
	tx, err := s.beginTx(ctx, s.Dialect.Begin)
	if err != nil {
		return s.Unwritten(err)
	}
	defer tx.RollBack(ctx) // of no effect after the commit
	states, missing, err := s.decideStep(ctx, tx, step)
	switch {
	case err != nil:
		return s.Unwritten(err)
	case missing != "":
		tx.RollBack(ctx)
		return cmp.Or(s.ensure(ctx, missing), errNoRow)
	}
	if s.Dialect.Tell != nil {
		if err := s.Dialect.Tell(ctx, tx, states); err != nil {
			return s.Unwritten(err)
		}
	}
	if err := tx.Commit(ctx, s.Dialect.Commit); err != nil {
		if s.Dialect.Classify(err).Collided() {
			return s.Unwritten(err)
		}
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// beginTx begins a transaction by statements.
func (s *Store) beginTx(ctx context.Context, statements []string) (*Transaction, error) {
	tx, err := Begin(ctx, s.DB, statements...)
	if err == nil && s.Dialect.Prepares {
		tx.Querier = inlined{conn: tx.conn}
	}
	return tx, err
}

// decideStep has the rows of the names, lets the step decide, and writes what has changed. It returns a name that has
// no row instead.
func (s *Store) decideStep(
	ctx context.Context, q rows.Querier, step *keeper.Step,
) (states []*ledger.State, missing string, err error) {
	all := make([]*rows.Row, len(step.Names))
	states = make([]*ledger.State, len(step.Names))
	var now int64
	for i, name := range step.Names {
		row, there, err := s.lockRow(ctx, q, name, step)
		if err != nil {
			return nil, "", err
		}
		switch {
		case row.State.Known:
			all[i], states[i], now = row, row.State, max(now, row.Now)
		case !step.Free || !there:
			return nil, name, nil
		}
	}
	step.Decide(s.clock(now), states)
	for _, row := range all {
		if row == nil {
			continue
		}
		if err := s.Layout.Save(ctx, q, row); err != nil {
			return nil, "", err
		}
	}
	return states, "", nil
}

// ensure makes the row of a name, in a transaction of its own: a row that is not there cannot be had.
func (s *Store) ensure(ctx context.Context, name string) error {
	tx, err := s.beginTx(ctx, s.Dialect.Begin)
	if err != nil {
		return s.Unwritten(err)
	}
	defer tx.RollBack(ctx) // of no effect after the commit
	if err := s.Layout.Ensure(ctx, tx, name); err != nil {
		return s.Unwritten(err)
	}
	return s.Unwritten(tx.Commit(ctx, s.Dialect.Commit)) // it gives nobody anything
}

// Unwritten puts an error into the words of package driver by which nothing was written.
func (s *Store) Unwritten(err error) error {
	if err == nil || errors.Is(err, driver.ErrRefused) || errors.Is(err, driver.ErrUnavailable) {
		return err
	}
	class := s.Dialect.Classify(err)
	if class == sqlkind.Broken || class.Collided() || errors.Is(err, context.Canceled) ||
		errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w: %w", driver.ErrUnavailable, outcome.InOneLine(err))
	}
	if s.Dialect.Advise != nil {
		if advice := s.Dialect.Advise(err); advice != "" {
			return fmt.Errorf("%w: %w: %s", driver.ErrRefused, outcome.InOneLine(err), advice)
		}
	}
	return fmt.Errorf("%w: %w", driver.ErrRefused, outcome.InOneLine(err))
}

// Outcome is the error of a statement that is its own transaction: what the database answered left nothing behind, and
// what happened on the way is not known.
func (s *Store) Outcome(ctx context.Context, err error) error {
	switch {
	case err == nil || errors.Is(err, driver.ErrRefused) || errors.Is(err, driver.ErrUnavailable):
		return err
	case s.Dialect.LeftNothing(err):
		return s.Unwritten(err)
	case ctx.Err() != nil && !errors.Is(err, ctx.Err()):
		return fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	return err
}
