package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "modernc.org/sqlite" // registers the driver

	"github.com/bedrock-go/bedrock/txn/sqlstore"
)

// Options configure a store. The zero value and nil mean the defaults.
type Options struct {
	// Table holds the records; see [sqlstore.Options].
	Table string
	// NoMigrate leaves the schema alone; see [sqlstore.Options].
	NoMigrate bool
	// BusyTimeout is how long a write waits for other processes that use the file.
	// Defaults to 10 s.
	BusyTimeout time.Duration
	// Readers is how many reads run at once. Defaults to 4.
	Readers int
}

const (
	defaultBusyTimeout = 10 * time.Second
	defaultReaders     = 4
)

// Open opens a file, which is made if there is none, as is its folder. Nobody but
// the file's owner can read it.
func Open(ctx context.Context, path string, opts *Options) (*sqlstore.Store, error) {
	own := opts.filled()
	abs, err := create(path)
	if err != nil {
		return nil, fmt.Errorf("sqlite: open %q: %w", path, err)
	}
	d, db, err := databases(abs, own)
	if err != nil {
		return nil, fmt.Errorf("sqlite: open %q: %w", path, err)
	}
	return sqlstore.Open(ctx, d, db, &sqlstore.Options{
		Table: own.Table, NoMigrate: own.NoMigrate, Writers: 1, Timeout: -1, // BusyTimeout bounds it
	})
}

// databases makes the connections to a file: one that writes, and some that read.
func databases(path string, own Options) (*dialect, sqlstore.Databases, error) {
	write, err := connect(path, own, 1)
	if err != nil {
		return nil, sqlstore.Databases{}, err
	}
	read, err := connect(path, own, own.Readers)
	if err != nil {
		return nil, sqlstore.Databases{}, errors.Join(err, write.Close())
	}
	d := newDialect(write, path)
	return d, sqlstore.Databases{Write: write, Read: read, Close: func() error {
		return errors.Join(d.close(), read.Close(), write.Close())
	}}, nil
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
	return own
}

// create makes the file, so that nobody else can read it; SQLite gives the files
// it makes beside it the same permissions.
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
	f, err := os.OpenFile(abs, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	return abs, f.Close()
}

// connect makes a pool of n connections.
func connect(path string, opts Options, n int) (*sql.DB, error) {
	db, err := sql.Open("sqlite", source(path, opts))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	return db, nil
}

// source names the file and says how connections use it.
func source(path string, opts Options) string {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // a drive letter
	}
	pragmas := []string{
		fmt.Sprintf("busy_timeout(%d)", opts.BusyTimeout.Milliseconds()),
		"journal_mode(WAL)",            // readers and the writer do not wait for each other
		"synchronous(NORMAL)",          // nothing gets out of order; Settle flushes
		"fullfsync(1)",                 // on macOS not only into the disk's cache
		"cache_size(-16384)",           // more makes commits slower: the whole of it is looked through
		"journal_size_limit(67108864)", // what a long read made large does not stay so
		"wal_autocheckpoint(4000)",     // pages that change often are copied less often
	}
	u := url.URL{Scheme: "file", Path: slashed, RawQuery: url.Values{"_pragma": pragmas, "_txlock": {"immediate"}}.Encode()}
	return u.String()
}
