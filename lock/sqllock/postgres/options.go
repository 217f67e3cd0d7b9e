package postgres

import (
	"context"
	"database/sql"

	"github.com/bedrock-go/bedrock/lock"
	lockdriver "github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/profiles"
)

// Options configure a client. The zero value and nil mean the defaults.
type Options struct {
	// Lock are the options that do not depend on the backend.
	Lock lock.Options
	// Profile is how locks are kept. Defaults to [LeaseRows].
	Profile Profile
	// Table is what the tables are called, and begin with. Defaults to bedrock_locks, with [ShedLock] to shedlock, and
	// with [Advisory] to bedrock_session_locks, where tokens are.
	Table string
	// NoMigrate leaves the schema alone: tables that are not there are an error, which has the SQL that makes them.
	NoMigrate bool
}

// Profile is how locks are kept.
type Profile uint8

const (
	// LeaseRows keeps locks of all kinds in rows of Bedrock's own.
	LeaseRows = Profile(profiles.LeaseRows)
	// ShedLock keeps mutexes in the table of ShedLock, a library for Java, and shares them with it.
	ShedLock = Profile(profiles.ShedLock)
	// Advisory keeps mutexes by advisory locks, in the session of one connection.
	Advisory = Profile(profiles.Session)
)

// New returns a client whose locks are in a database that the program has, and leaves it open. The tables are made when
// they are first needed, if the account may do that; else see [Migrate] and [Schema].
func New(db *sql.DB, opts *Options) (*lock.Client, error) {
	if opts == nil {
		opts = &Options{}
	}
	return databaseKind().NewClient(db, opts.settings(), opts.Lock)
}

// NewBackend returns the backend alone, to combine it with others.
func NewBackend(db *sql.DB, opts *Options) (lockdriver.Backend, error) {
	return databaseKind().NewBackend(db, opts.settings())
}

// Migrate makes the tables if there are none.
func Migrate(ctx context.Context, db *sql.DB, opts *Options) error {
	return databaseKind().Migrate(ctx, db, opts.settings())
}

// Schema is the SQL that makes the tables.
func Schema(opts *Options) (string, error) { return databaseKind().Schema(opts.settings()) }

// settings are the options that say where locks are.
func (o *Options) settings() profiles.Settings {
	if o == nil {
		return profiles.Settings{}
	}
	return profiles.Settings{Profile: profiles.Profile(o.Profile), Table: o.Table, AsIs: o.NoMigrate}
}
