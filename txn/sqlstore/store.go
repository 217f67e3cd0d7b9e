package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// Store keeps records in one table of a database. The packages below this one
// open it.
type Store struct {
	dialect Dialect
	clauses Clauses
	opts    Options
	db      Databases
	writers []*writer
	syncer  *syncer
	counts  tally

	// life ends with the store. It ends what calls and writers do at the database,
	// and is stored because it belongs to no call.
	life context.Context //nolint:containedctx // see above
	end  context.CancelFunc

	closing  sync.Once
	closeErr error
}

var (
	_ driver.Store     = (*Store)(nil)
	_ driver.TxCreator = (*Store)(nil)
	_ driver.Counter   = (*Store)(nil)
	_ driver.Migrator  = (*Store)(nil)
)

// Databases are the connections a store works with.
type Databases struct {
	// Write is used by writers, claims, deletions and migrations, Read by the rest.
	// They may be the same.
	Write, Read *sql.DB
	// Close ends them with the store; nil when they belong to somebody else.
	Close func() error
}

// Open returns a store in a database whose schema is up to date, or is made so.
// It takes the databases over, and closes them when it fails.
func Open(ctx context.Context, d Dialect, db Databases, opts *Options) (*Store, error) {
	s, err := newStore(d, db, opts)
	if err != nil {
		return nil, errors.Join(err, db.close())
	}
	if err := s.prepareToServe(ctx); err != nil {
		s.end()
		return nil, errors.Join(err, db.close())
	}
	s.syncer = startSyncer(d)
	s.startWriters()
	return s, nil
}

func newStore(d Dialect, db Databases, opts *Options) (*Store, error) {
	clauses := d.Clauses()
	own, err := opts.filled()
	if err != nil {
		return nil, fmt.Errorf("%s: options: %w", clauses.Kind, err)
	}
	s := &Store{dialect: d, clauses: clauses, opts: own, db: db}
	s.life, s.end = context.WithCancel(context.Background())
	return s, nil
}

// prepareToServe brings the schema up to date, or only checks it, and takes over the
// records whose owners are gone.
func (s *Store) prepareToServe(ctx context.Context) error {
	if err := s.prepareSchema(ctx); err != nil {
		return err
	}
	return s.wrap(ctx, "open", s.inherit(ctx))
}

func (s *Store) prepareSchema(ctx context.Context) error {
	if s.opts.NoMigrate {
		return s.wrap(ctx, "open", s.checkSchema(ctx))
	}
	_, _, err := s.Migrate(ctx)
	return err
}

func (d Databases) close() error {
	if d.Close == nil {
		return nil
	}
	return d.Close()
}

// Close implements [driver.Store]. Writes under way are cut off where the database allows
// it; their callers get an error that leaves open what became of them.
func (s *Store) Close() error {
	s.closing.Do(func() {
		s.end()
		for _, w := range s.writers {
			<-w.stopped
		}
		s.syncer.stop()
		s.closeErr = s.db.close()
	})
	return s.closeErr
}

// Load implements [driver.Store].
func (s *Store) Load(ctx context.Context, id string) (*driver.Record, error) {
	var rec *driver.Record
	err := s.whileAlive(ctx, "load "+quoted(id), func(ctx context.Context) (err error) {
		rec, err = s.load(ctx, id)
		return Unwritten(err)
	})
	return rec, err
}

func (s *Store) load(ctx context.Context, id string) (*driver.Record, error) {
	rec, err := scan(s.db.Read.QueryRowContext(ctx, s.sql("SELECT "+Columns+" FROM {tx} WHERE id = ?"), id), true)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, driver.ErrNotFound
	}
	return rec, errors.Join(err, s.syncer.waitSynced(ctx))
}

// whileAlive runs fn, which is no write by a writer, for as long as its caller and the
// store live.
func (s *Store) whileAlive(ctx context.Context, what string, fn func(context.Context) error) error {
	if err := s.open(ctx); err != nil {
		return fmt.Errorf("%s: %s: %w", s.clauses.Kind, what, err)
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.life, cancel)()
	return s.wrap(ctx, what, fn(inner))
}

// open refuses calls after Close, and those whose context has ended.
func (s *Store) open(ctx context.Context) error {
	if s.life.Err() != nil {
		return driver.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", driver.ErrUnavailable, err)
	}
	return nil
}

// wrap names the operation that failed, and adds the error by which callers tell failures
// apart.
func (s *Store) wrap(ctx context.Context, what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %s: %w", s.clauses.Kind, what, s.explain(ctx, err))
}

// explain adds the error of the contract.
func (s *Store) explain(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, driver.ErrNotFound), errors.Is(err, driver.ErrExists), errors.Is(err, driver.ErrStale),
		errors.Is(err, driver.ErrClosed), errors.Is(err, driver.ErrUnavailable), errors.Is(err, driver.ErrRefused):
		return err
	case isUnwritten(err) && s.verdictOn(err) == TooLarge:
		return fmt.Errorf("%w: %w", driver.ErrRefused, err)
	case s.life.Err() != nil && isUnwritten(err):
		return fmt.Errorf("%w: %w", driver.ErrClosed, err)
	case ctx.Err() != nil && !errors.Is(err, ctx.Err()): // drivers have words of their own for it
		return fmt.Errorf("%w: %w", ctx.Err(), err)
	case isUnwritten(err) && s.verdictOn(err) == Broken:
		return fmt.Errorf("%w: %w", driver.ErrUnavailable, err)
	default:
		return err
	}
}

// verdictOn is the dialect's verdict. A call that was cut off has lost its
// connection, whatever the driver says of it.
func (s *Store) verdictOn(err error) Verdict {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return Broken
	}
	return s.dialect.Judge(err)
}

// sql completes a query: {tx} is the table, ? a parameter.
func (s *Store) sql(query string) string {
	return s.clauses.Kind.Place(strings.ReplaceAll(query, "{tx}", s.opts.Table))
}
