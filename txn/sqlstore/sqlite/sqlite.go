package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/txn/sqlstore"
)

// Options configure a store. The zero value and nil mean the defaults.
type Options struct {
	// Table holds the records; see [sqlstore.Options].
	Table string
	// NoMigrate leaves the schema alone; see [sqlstore.Options].
	NoMigrate bool
	// BusyTimeout is how long a write waits for other processes that use the file.
	// Defaults to 10 s; 1 ms to a day.
	BusyTimeout time.Duration
	// Readers is how many reads run at once. Defaults to 4.
	Readers int
	// Shared lets several stores, be it of several processes, have the file open at once.
	// All of them must set it. What one that died had under way is taken up when its
	// lease is over; a store that has the file for itself takes it up when it is opened.
	Shared bool

	largeLog int64 // tests have shorter ones
}

const (
	defaultBusyTimeout = 10 * time.Second
	maxBusyTimeout     = 24 * time.Hour // SQLite takes what is far longer for none at all
	defaultReaders     = 4
)

// Open opens a file, which is made if there is none, as is its folder. Nobody but
// the file's owner can read it. [ErrInUse] when another store has it open.
func Open(ctx context.Context, path string, opts *Options) (*sqlstore.Store, error) {
	own := opts.filled()
	if err := own.check(); err != nil {
		return nil, fmt.Errorf("sqlite: %w", err)
	}
	abs, err := create(path)
	if err != nil {
		return nil, fmt.Errorf("sqlite: open %q: %w", path, err)
	}
	d, db, err := databases(ctx, abs, own)
	if err != nil {
		return nil, fmt.Errorf("sqlite: open %q: %w", path, err)
	}
	return sqlstore.Open(ctx, d, db, &sqlstore.Options{
		Table: own.Table, NoMigrate: own.NoMigrate, Writers: 1, Timeout: -1, // BusyTimeout bounds it
	})
}

// databases makes the connections to a file: one that writes, some that read, and one that
// keeps the log in its place. Whichever closes the file last copies the log into it and
// removes the log, and one that failed may be the only one at that moment. When the disk
// has refused the log, it must not be copied, so then the connection that keeps it closes
// last: that may only read.
func databases(ctx context.Context, path string, opts Options) (*dialect, sqlstore.Databases, error) {
	var open closers
	fail := func(err error) (*dialect, sqlstore.Databases, error) {
		return nil, sqlstore.Databases{}, errors.Join(err, open.close())
	}
	owner, err := own(ctx, path, opts.Shared)
	if err != nil {
		return fail(err)
	}
	open.add(owner)
	log := &logKeeper{large: opts.largeLog, patience: opts.BusyTimeout}
	write, read, keep, err := pools(path, opts, log)
	if err != nil {
		return fail(err)
	}
	open = append(open, keep, write, read, unless{log.isLost, keep})
	if log.log, err = openLog(ctx, path, write); err != nil {
		return fail(err)
	}
	open.add(log.log)
	if err := touch(ctx, keep); err != nil {
		return fail(err)
	}
	return &dialect{db: write, log: log, sole: !opts.Shared},
		sqlstore.Databases{Write: write, Read: read, Close: open.close}, nil
}

// pools are for connections of three kinds, of which none is made yet.
func pools(path string, opts Options, log *logKeeper) (write, read, keep *sql.DB, err error) {
	if write, err = connect(source(path, opts), log, 1); err != nil {
		return nil, nil, nil, err
	}
	if read, err = connect(source(path, opts), nil, opts.Readers); err != nil {
		return nil, nil, nil, err
	}
	keep, err = connect(address(path, url.Values{"mode": {"ro"}}), nil, 1)
	return write, read, keep, err
}

// closers are closed in the opposite order.
type closers []io.Closer

func (c *closers) add(one io.Closer) { *c = append(*c, one) }

func (c *closers) close() error {
	var errs []error
	for _, one := range slices.Backward(*c) {
		errs = append(errs, one.Close())
	}
	return errors.Join(errs...)
}

// unless closes something, except when that has to stay for others to be closed before it.
type unless struct {
	stays func() bool
	io.Closer
}

// Close implements [io.Closer].
func (u unless) Close() error {
	if u.stays() {
		return nil
	}
	return u.Closer.Close()
}

// touch has a connection open the file and its log, which it does when it first reads.
func touch(ctx context.Context, db *sql.DB) error {
	var tables int
	return db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables)
}

func (o *Options) filled() Options {
	var own Options
	if o != nil {
		own = *o
	}
	if own.BusyTimeout == 0 {
		own.BusyTimeout = defaultBusyTimeout
	}
	if own.Readers == 0 {
		own.Readers = defaultReaders
	}
	if own.largeLog == 0 {
		own.largeLog = largeLog
	}
	return own
}

// check returns an error that names the first option that makes no sense.
func (o *Options) check() error {
	switch {
	case o.BusyTimeout < time.Millisecond || o.BusyTimeout > maxBusyTimeout: // SQLite counts milliseconds
		problem := fmt.Sprintf("%v: want 0 (default) or 1ms to %v", o.BusyTimeout, maxBusyTimeout)
		return &input.Error{Field: "busyTimeout", Problem: problem}
	case o.Readers < 0:
		return input.Errorf("readers", "%d: want 0 (default) or more", o.Readers)
	default:
		return nil
	}
}

// create makes the file, so that nobody else can read it; SQLite gives the files it makes
// beside it the same permissions. A file that is there is not even opened: closing it would
// lose the locks that this process has there, those of a user's transaction included.
func create(path string) (abs string, err error) {
	if path == "" || path == ":memory:" {
		return "", errors.New("want the name of a file; package memstore keeps transactions in memory")
	}
	abs, err = filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(abs), 0o700); err != nil {
		return "", err
	}
	f, err := os.OpenFile(abs, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return abs, nil
	}
	if err != nil {
		return "", err
	}
	return abs, f.Close()
}

// connect makes a pool of n connections.
func connect(source string, log *logKeeper, n int) (*sql.DB, error) {
	c, err := newConnector(source, log)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	return db, nil
}

// source names the file and says how connections use it.
func source(path string, opts Options) string {
	pragmas := []string{
		fmt.Sprintf("busy_timeout(%d)", opts.BusyTimeout.Milliseconds()),
		"journal_mode(WAL)",   // readers and the writer do not wait for each other
		"synchronous(NORMAL)", // nothing gets out of order; Sync flushes
		"fullfsync(1)",        // on macOS not only into the disk's cache
		"cache_size(-16384)",  // more makes commits slower: the whole of it is looked through
		fmt.Sprintf("journal_size_limit(%d)", opts.largeLog), // what a long read made large does not stay so
		"wal_autocheckpoint(0)",                              // whoever writes sees to it, and to the errors
	}
	return address(path, url.Values{"_pragma": pragmas, "_txlock": {"immediate"}})
}

// address is a file's name with parameters.
func address(path string, parameters url.Values) string {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // a drive letter
	}
	query := strings.ReplaceAll(parameters.Encode(), "+", "%20") // SQLite takes a plus for one
	u := url.URL{Scheme: "file", Path: slashed, RawQuery: query}
	return u.String()
}
