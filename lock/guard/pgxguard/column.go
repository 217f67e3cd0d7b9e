package pgxguard

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/internal/sqlkind"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/guard"
	"github.com/bedrock-go/bedrock/lock/guard/internal/fencesql"
)

// ErrNoRow says that the row which a [Column] was to guard is not there.
var ErrNoRow = fencesql.ErrNoRow

// ColumnOptions say which rows a [Column] guards.
type ColumnOptions struct {
	// Table has the rows.
	Table string
	// Key is the column that tells them apart. Defaults to id.
	Key string
	// Fence is the column with the newest token: BIGINT NOT NULL DEFAULT 0. Defaults to fence.
	Fence string
	// Observer is told of every refusal, see [lock.EventRefused]. Defaults to nobody.
	Observer lock.Observer
}

// Column guards rows that have a column for the token. It may be used by many goroutines at once.
type Column struct {
	statements *fencesql.Column
	observer   lock.Observer
}

// NewColumn returns a guard of rows.
func NewColumn(opts *ColumnOptions) (*Column, error) {
	if opts == nil {
		opts = &ColumnOptions{}
	}
	statements, err := fencesql.NewColumn(sqlkind.Postgres, opts.Table, opts.Key, opts.Fence)
	if err != nil {
		return nil, fmt.Errorf("pgxguard: %w", err)
	}
	return &Column{statements, opts.Observer}, nil
}

// Queryer runs statements: a pgx.Tx, or a *pgxpool.Pool or *pgx.Conn, where each is a transaction of its own.
type Queryer interface {
	Exec(ctx context.Context, query string, args ...any) (pgconn.CommandTag, error)
	QueryRow(ctx context.Context, query string, args ...any) pgx.Row
}

// Announce writes a token to a row before the first read, in the transaction of that read or in one of its own. It
// returns a [*guard.StaleError] if the row knows a newer one, and [ErrNoRow] if there is no row.
func (c *Column) Announce(ctx context.Context, db Queryer, t guard.Ticket, key any) error {
	if err := checkArguments(db, t); err != nil {
		return fmt.Errorf("pgxguard: announce: %w", err)
	}
	result, err := db.Exec(ctx, c.statements.Raise, t.Token, key, t.Token)
	if err != nil {
		return fmt.Errorf("pgxguard: announce %q: %w", t.Name, err)
	}
	return c.whyUntouched(ctx, "announce", db, t, key, result)
}

// Check says of a statement whether it was refused, by its result: one that touched the row was not. Of one that has
// touched none it looks why: the row knows a newer token ([*guard.StaleError]), or is not there ([ErrNoRow]). The
// statement must set the column to the token, on the condition that it is not higher, and have no other condition;
// one that has counts its rows itself. db is where it ran.
//
//	UPDATE orders SET status = $1, fence = $2 WHERE id = $3 AND fence <= $2
func (c *Column) Check(ctx context.Context, db Queryer, t guard.Ticket, key any, result pgconn.CommandTag) error {
	if err := checkArguments(db, t); err != nil {
		return fmt.Errorf("pgxguard: check: %w", err)
	}
	return c.whyUntouched(ctx, "check", db, t, key, result)
}

// whyUntouched says why a statement has touched no row.
func (c *Column) whyUntouched(
	ctx context.Context, what string, db Queryer, t guard.Ticket, key any, result pgconn.CommandTag,
) error {
	if result.RowsAffected() > 0 {
		return nil
	}
	var newest *int64
	err := db.QueryRow(ctx, c.statements.Newest, key).Scan(&newest)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		err = c.statements.NoRow(key)
	case err == nil:
		err = guard.Observed(ctx, c.observer, c.statements.Explain(t, key, newest))
	}
	if err == nil || errors.Is(err, guard.ErrStale) {
		return err
	}
	return fmt.Errorf("pgxguard: %s %q: %w", what, t.Name, err)
}

func checkArguments(db Queryer, t guard.Ticket) error {
	if db == nil {
		return &input.Error{Field: "db", Problem: "is nil"}
	}
	return t.Check()
}
