package floor

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"
)

// connections is how many writers a server gets: while one waits for the disk
// another collects. More of them only made the groups smaller.
const connections = 2

// OpenMariaDB writes to a table in db.
func OpenMariaDB(ctx context.Context, db *sql.DB) (*Group, error) {
	const table = "CREATE TABLE floor (id BIGINT AUTO_INCREMENT PRIMARY KEY, record BLOB NOT NULL)"
	return openSQL(ctx, db, table, func(records [][]byte) (string, []any) {
		args := make([]any, len(records))
		for i, r := range records {
			args[i] = r
		}
		return "INSERT INTO floor (record) VALUES (?)" + strings.Repeat(",(?)", len(records)-1), args
	})
}

// OpenPostgres writes to a table in db.
func OpenPostgres(ctx context.Context, db *sql.DB) (*Group, error) {
	const table = "CREATE TABLE floor (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, record BYTEA NOT NULL)"
	return openSQL(ctx, db, table, func(records [][]byte) (string, []any) {
		return "INSERT INTO floor (record) SELECT unnest($1::bytea[])", []any{records}
	})
}

// openSQL makes the table and the writers.
func openSQL(ctx context.Context, db *sql.DB, table string, insert func([][]byte) (string, []any)) (*Group, error) {
	db.SetMaxIdleConns(connections)
	if _, err := db.ExecContext(ctx, table); err != nil {
		return nil, fmt.Errorf("create table: %w", errors.Join(err, db.Close()))
	}
	flush := func(records [][]byte) error {
		text, args := insert(records)
		_, err := db.ExecContext(context.WithoutCancel(ctx), text, args...)
		return err
	}
	return newGroup(db.Close, flushes(flush)...), nil
}

// OpenRedis writes hashes to the server at addr.
func OpenRedis(ctx context.Context, addr string) (*Group, error) {
	rdb := redis.NewClient(&redis.Options{Addr: addr, PoolSize: connections})
	if err := rdb.Ping(ctx).Err(); err != nil {
		return nil, fmt.Errorf("open redis %s: %w", addr, errors.Join(err, rdb.Close()))
	}
	flush := func(records [][]byte) error {
		pipe := rdb.Pipeline()
		for _, r := range records {
			pipe.RPush(context.WithoutCancel(ctx), "floor", r)
		}
		_, err := pipe.Exec(context.WithoutCancel(ctx))
		return err
	}
	return newGroup(rdb.Close, flushes(flush)...), nil
}

// flushes gives every connection the same way to write.
func flushes(flush func([][]byte) error) []func([][]byte) error {
	list := make([]func([][]byte) error, connections)
	for i := range list {
		list[i] = flush
	}
	return list
}
