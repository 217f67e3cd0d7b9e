package sqlguard

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/guard"
	"github.com/bedrock-go/bedrock/lock/guard/internal/fencesql"
)

// Options tune a [Guard] or a [Column]. Nil and the zero value are the defaults.
type Options struct {
	// Table is where a guard keeps tokens. Defaults to bedrock_guard. It must be in the database of the data, or
	// on MySQL in another one of the same server.
	Table string
	// Observer is told of every refusal, see [lock.EventRefused]. Defaults to nobody.
	Observer lock.Observer
}

// Guard remembers the newest token of each name in a table. It may be used by many goroutines at once. It is a
// [guard.Store].
type Guard struct {
	db       *sql.DB
	dialect  Dialect
	table    *fencesql.Table
	observer lock.Observer
}

// New returns a guard over the database that has the data. It does not touch the database; Migrate makes the table.
func New(db *sql.DB, dialect Dialect, opts *Options) (*Guard, error) {
	if opts == nil {
		opts = &Options{}
	}
	table, err := fencesql.NewTable(dialect.kind(), opts.Table)
	switch {
	case err != nil:
		return nil, fmt.Errorf("sqlguard: %w", err)
	case db == nil:
		return nil, fmt.Errorf("sqlguard: %w", &input.Error{Field: "db", Problem: "is nil"})
	}
	return &Guard{db: db, dialect: dialect, table: table, observer: opts.Observer}, nil
}

// Migrate makes the table if it is not there. Several may do so at once.
func (g *Guard) Migrate(ctx context.Context) error {
	tx, err := g.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("sqlguard: migrate: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // of no effect after the commit
	for _, statement := range g.table.Schema {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("sqlguard: migrate table %s: %w", g.table.Name, err)
		}
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("sqlguard: migrate: commit: %w", err)
	}
	return nil
}

// Tx is a transaction: a *sql.Tx, or a *sql.Conn on which one was begun.
type Tx interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Announce remembers a token for good, in a transaction of its own. It waits for transactions that have checked a
// ticket of the same name: when it returns nil, all that older holders will ever have written is committed. A newer
// token that is known is a [*guard.StaleError]. Announce before the own transaction has begun: it would wait for one
// that has checked the name.
func (g *Guard) Announce(ctx context.Context, t guard.Ticket) error {
	if err := t.Check(); err != nil {
		return fmt.Errorf("sqlguard: announce: %w", err)
	}
	var newest uint64
	err := fencesql.RepeatDeadlocked(ctx, g.dialect.kind(), func() (err error) {
		newest, err = g.announceOnce(ctx, t)
		return err
	})
	if err != nil {
		return fmt.Errorf("sqlguard: announce %q: %w", t.Name, err)
	}
	return guard.Observed(ctx, g.observer, guard.Compare(t, newest))
}

// announceOnce is one transaction.
func (g *Guard) announceOnce(ctx context.Context, t guard.Ticket) (newest uint64, err error) {
	tx, err := g.db.BeginTx(ctx, g.dialect.announcing())
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback() }() // of no effect after the commit
	if newest, err = g.raiseToken(ctx, tx, t); err != nil {
		return 0, err
	}
	return newest, tx.Commit()
}

// Check remembers a token in the transaction of the write, and has its name until that ends. A newer token that is
// known is a [*guard.StaleError]: roll back. Any other error leaves open what the transaction has; roll
// back as well. Check before the first read of the transaction, see the package comment.
func (g *Guard) Check(ctx context.Context, tx Tx, t guard.Ticket) error {
	if err := checkArguments(tx, t); err != nil {
		return fmt.Errorf("sqlguard: check: %w", err)
	}
	newest, err := g.raiseToken(ctx, tx, t)
	if err != nil {
		return fmt.Errorf("sqlguard: check %q: %w", t.Name, err)
	}
	return guard.Observed(ctx, g.observer, guard.Compare(t, newest))
}

// checkArguments refuses what is in no transaction: the row would be free again before the write.
func checkArguments(tx Tx, t guard.Ticket) error {
	if tx == nil {
		return &input.Error{Field: "tx", Problem: "is nil"}
	}
	if _, pool := tx.(*sql.DB); pool {
		return &input.Error{Field: "tx", Problem: "is a *sql.DB, must be the transaction that writes"}
	}
	return t.Check()
}

// raiseToken remembers a token unless a newer one is known, and returns the newest.
func (g *Guard) raiseToken(ctx context.Context, tx Tx, t guard.Ticket) (newest uint64, err error) {
	name := g.table.NameSent(t.Name)
	if g.table.Newest == "" {
		err = tx.QueryRowContext(ctx, g.table.Raise, name, t.Token).Scan(&newest)
		return newest, err
	}
	if _, err := tx.ExecContext(ctx, g.table.Raise, name, t.Token); err != nil {
		return 0, err
	}
	err = tx.QueryRowContext(ctx, g.table.Newest, name).Scan(&newest)
	return newest, err
}
