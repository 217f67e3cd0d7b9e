package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/bedrock-go/bedrock/txn/sqlstore"
)

// Options configure a store.
type Options = sqlstore.Options

// connections is how many a store has of its own. Writers and reads share them.
const connections = 16

// Open opens a store in a database, with connections of its own. The URL, such as
// postgres://user:secret@host:5432/database?sslmode=verify-full, is one of
// PostgreSQL's own; its key=value form and environment variables work, too.
func Open(ctx context.Context, url string, opts *Options) (*sqlstore.Store, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err) // pgx leaves the password out
	}
	if _, given := config.RuntimeParams["client_encoding"]; !given {
		config.RuntimeParams["client_encoding"] = "UTF8" // whatever is set for the account
	}
	db := stdlib.OpenDB(*config)
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return sqlstore.Open(ctx, &dialect{db: db}, sqlstore.Databases{Write: db, Read: db, Close: db.Close}, opts)
}

// New opens a store in a database the program has already, by way of
// github.com/jackc/pgx/v5/stdlib, and leaves it open.
func New(ctx context.Context, db *sql.DB, opts *Options) (*sqlstore.Store, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("postgres: connect: %w", err)
	}
	err = errors.Join(raw(conn, func(*pgx.Conn) error { return nil }), conn.Close())
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	return sqlstore.Open(ctx, &dialect{db: db}, sqlstore.Databases{Write: db, Read: db}, opts)
}
