package storeurl

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/redisconn/goredis"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/memstore"
	"github.com/bedrock-go/bedrock/txn/redisstore"
	"github.com/bedrock-go/bedrock/txn/sqlstore"
	"github.com/bedrock-go/bedrock/txn/sqlstore/mysql"
	"github.com/bedrock-go/bedrock/txn/sqlstore/postgres"
	"github.com/bedrock-go/bedrock/txn/sqlstore/sqlite"
)

// Options configure a store. The zero value and nil mean the defaults.
type Options struct {
	// NoMigrate leaves the schema of a database alone.
	NoMigrate bool
	// AllowVolatile accepts a Redis that may lose what it was given.
	AllowVolatile bool
}

// Open connects to a store. Its Close closes the connections, too.
func (l *Location) Open(ctx context.Context, opts *Options) (driver.Store, error) {
	if opts == nil {
		opts = &Options{}
	}
	store, err := l.open(ctx, opts)
	if err != nil {
		return nil, &unavailable{err}
	}
	return store, nil
}

func (l *Location) open(ctx context.Context, opts *Options) (driver.Store, error) {
	switch l.Kind {
	case SQLite:
		return sqlite.Open(ctx, l.source, &sqlite.Options{NoMigrate: opts.NoMigrate})
	case MySQL:
		return mysql.Open(ctx, l.source, &sqlstore.Options{NoMigrate: opts.NoMigrate})
	case Postgres:
		return postgres.Open(ctx, l.source, &sqlstore.Options{NoMigrate: opts.NoMigrate})
	case Redis:
		return openRedis(ctx, redis.NewUniversalClient(l.redis), opts)
	default:
		return memstore.New(nil), nil
	}
}

func openRedis(ctx context.Context, conn redis.UniversalClient, opts *Options) (driver.Store, error) {
	store, err := redisstore.New(ctx, goredis.Wrap(conn), &redisstore.Options{AllowVolatile: opts.AllowVolatile})
	if volatile, ok := errors.AsType[*redisstore.VolatileError](err); ok { // in the words of the command line
		err = fmt.Errorf("store: %s; set it right, or give --allow-volatile to lose transactions", volatile.Reason)
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return &connected{store, conn}, nil
}

// connected is a store that closes its connections as well.
type connected struct {
	*redisstore.Store

	conn redis.UniversalClient
}

// Close implements [driver.Store].
func (c *connected) Close() error { return errors.Join(c.Store.Close(), c.conn.Close()) }

// unavailable is an error in one line: those of databases may have several.
type unavailable struct{ err error }

// Error implements error.
func (u *unavailable) Error() string { return strings.Join(strings.Fields(u.err.Error()), " ") }

// Unwrap returns the error as it was.
func (u *unavailable) Unwrap() error { return u.err }
