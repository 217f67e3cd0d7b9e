package sqlguard

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/guard"
	"github.com/bedrock-go/bedrock/lock/guard/internal/fencesql"
)

// ErrNoRow says that the row which a [Column] was to guard is not there.
var ErrNoRow = fencesql.ErrNoRow

// ColumnOptions say which rows a [Column] guards.
type ColumnOptions struct {
	// Table has the rows: a plain name, perhaps after that of a schema and a dot. It stands in statements as it is,
	// so it cannot be a word of SQL.
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
func NewColumn(dialect Dialect, opts *ColumnOptions) (*Column, error) {
	if opts == nil {
		opts = &ColumnOptions{}
	}
	statements, err := fencesql.NewColumn(dialect.kind(), opts.Table, opts.Key, opts.Fence)
	if err != nil {
		return nil, fmt.Errorf("sqlguard: %w", err)
	}
	return &Column{statements, opts.Observer}, nil
}

// Announce writes a token to a row before the first read, in the transaction of that read or, on a *sql.DB, in one of
// its own. It returns a [*guard.StaleError] if the row knows a newer one, and [ErrNoRow] if there is no row.
func (c *Column) Announce(ctx context.Context, db Tx, t guard.Ticket, key any) error {
	if db == nil {
		return fmt.Errorf("sqlguard: announce: %w", &input.Error{Field: "db", Problem: "is nil"})
	}
	if err := t.Check(); err != nil {
		return fmt.Errorf("sqlguard: announce: %w", err)
	}
	result, err := db.ExecContext(ctx, c.statements.Raise, t.Token, key, t.Token)
	if err != nil {
		return fmt.Errorf("sqlguard: announce %q: %w", t.Name, err)
	}
	return c.whyUntouched(ctx, "announce", db, t, key, result)
}

// Check says of a statement whether it was refused, by its result: one that touched the row was not. Of one that has
// touched none it looks why: the row knows a newer token ([*guard.StaleError]), or is not there
// ([ErrNoRow]). The statement must set the column to the token, on the condition that it is not higher:
//
//	UPDATE orders SET status = ?, fence = ? WHERE id = ? AND fence <= ?
//
// and have no other condition; one that has counts its rows itself. tx is where it ran. On MySQL without
// clientFoundRows=true a statement that finds the row as it wants it changes nothing; that is no refusal.
func (c *Column) Check(ctx context.Context, tx Tx, t guard.Ticket, key any, result sql.Result) error {
	if err := checkResult(tx, t, result); err != nil {
		return fmt.Errorf("sqlguard: check: %w", err)
	}
	return c.whyUntouched(ctx, "check", tx, t, key, result)
}

// whyUntouched says why a statement has touched no row.
func (c *Column) whyUntouched(
	ctx context.Context, what string, tx Tx, t guard.Ticket, key any, result sql.Result,
) error {
	touched, err := result.RowsAffected()
	if err != nil || touched > 0 {
		return err
	}
	var newest *int64
	err = tx.QueryRowContext(ctx, c.statements.Newest, key).Scan(&newest)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		err = c.statements.NoRow(key)
	case err == nil:
		err = guard.Observed(ctx, c.observer, c.statements.Explain(t, key, newest))
	}
	if err == nil || errors.Is(err, guard.ErrStale) {
		return err
	}
	return fmt.Errorf("sqlguard: %s %q: %w", what, t.Name, err)
}

func checkResult(tx Tx, t guard.Ticket, result sql.Result) error {
	switch {
	case tx == nil:
		return &input.Error{Field: "tx", Problem: "is nil"}
	case result == nil:
		return &input.Error{Field: "result", Problem: "is nil"}
	}
	return t.Check()
}
