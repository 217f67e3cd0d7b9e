// Package profiles makes backends of the ways in which locks can be kept in a database with a server, the same for all
// kinds of databases.
package profiles

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/remote"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/rows"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/session"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/shedtable"
)

// Profile is how locks are kept.
type Profile uint8

// The profiles there are.
const (
	LeaseRows Profile = iota
	ShedLock
	Session
)

// Database is a kind of database.
type Database struct {
	// Label begins what its errors say.
	Label string
	// Dialect returns what sets it apart, for tables that are called so.
	Dialect func(table string) remote.Dialect
	// Rows makes a backend of rows of Bedrock's own.
	Rows func(*remote.Store) driver.Backend
	// Sessions are its ways with the session of a connection.
	Sessions session.Ways
	// Check says what is wrong with the server.
	Check func(context.Context, *remote.Store) ([]driver.Finding, error)
}

// Settings say where locks are.
type Settings struct {
	Profile Profile
	Table   string
	AsIs    bool // tables are somebody else's to make
}

// tables are what the tables are called, unless somebody says something else.
func tables() []string {
	return []string{rows.DefaultTable, shedtable.DefaultTable, session.DefaultTable}
}

func (d *Database) newStore(db *sql.DB, s Settings) (*remote.Store, error) {
	usual := tables()
	if int(s.Profile) >= len(usual) {
		return nil, input.Errorf("profile", "is %d, allowed are 0 to %d", s.Profile, len(usual)-1)
	}
	table := s.Table
	if table == "" {
		table = usual[s.Profile]
	}
	if err := rows.CheckTable(table); err != nil {
		return nil, err
	}
	store := remote.New(db, table, d.Dialect(table))
	store.AsIs = s.AsIs
	return store, nil
}

// NewClient returns a client.
func (d *Database) NewClient(db *sql.DB, s Settings, own lock.Options) (*lock.Client, error) {
	b, err := d.NewBackend(db, s)
	if err != nil {
		return nil, err
	}
	return lock.New(b, &own)
}

// NewBackend returns the backend alone.
func (d *Database) NewBackend(db *sql.DB, s Settings) (driver.Backend, error) {
	store, err := d.newStore(db, s)
	if err != nil {
		return nil, err
	}
	switch s.Profile {
	case ShedLock:
		return &shedBackend{shedtable.New(store, d.Label), d, store}, nil
	case Session:
		return &sessionBackend{session.New(store, d.Sessions, d.Label), d, store}, nil
	default:
		return d.Rows(store), nil
	}
}

// Migrate makes the tables if there are none.
func (d *Database) Migrate(ctx context.Context, db *sql.DB, s Settings) error {
	store, err := d.newStore(db, s)
	if err != nil {
		return err
	}
	defer store.Close()
	switch s.Profile {
	case ShedLock:
		return shedtable.Migrate(ctx, store)
	case Session:
		return session.Migrate(ctx, store)
	default:
		return store.Migrate(ctx)
	}
}

// Schema is the SQL that makes the tables.
func (d *Database) Schema(s Settings) (string, error) {
	store, err := d.newStore(nil, s)
	if err != nil {
		return "", err
	}
	switch s.Profile {
	case ShedLock:
		return shedtable.Schema(store), nil
	case Session:
		return session.Schema(store), nil
	default:
		return store.Schema(), nil
	}
}

// shedBackend is one in ShedLock's table.
type shedBackend struct {
	*shedtable.Backend

	database *Database
	store    *remote.Store
}

// Check implements [driver.Checker].
func (b *shedBackend) Check(ctx context.Context) ([]driver.Finding, error) {
	return b.database.check(ctx, b.store, b.CheckTable, shedtable.Columns)
}

// sessionBackend is one in the session of a connection.
type sessionBackend struct {
	*session.Backend

	database *Database
	store    *remote.Store
}

// Check implements [driver.Checker].
func (b *sessionBackend) Check(ctx context.Context) ([]driver.Finding, error) {
	return b.database.check(ctx, b.store, b.CheckSession, session.Columns)
}

// check says what is wrong with the server, with more, and with what may be done to a table of such columns, worst
// first.
func (d *Database) check(
	ctx context.Context, store *remote.Store, more func(context.Context) ([]driver.Finding, error), columns string,
) ([]driver.Finding, error) {
	found, err := more(ctx)
	if err == nil {
		var others []driver.Finding
		others, err = d.Check(ctx, store)
		found = append(found, others...)
	}
	if err == nil {
		found, err = store.CheckRights(ctx, found, rows.RightsOf(store.Layout.Table, columns))
	}
	if found, err = store.OrLack(found, err); err != nil {
		return nil, fmt.Errorf("%s: check %s: %w", d.Label, store.Layout.Table, err)
	}
	return WorstFirst(found), nil
}

// WorstFirst puts findings in order.
func WorstFirst(found []driver.Finding) []driver.Finding {
	slices.SortStableFunc(found, func(a, b driver.Finding) int { return int(b.Level) - int(a.Level) })
	return found
}
