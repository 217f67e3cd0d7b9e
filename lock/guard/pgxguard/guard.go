package pgxguard

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/internal/sqlkind"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/guard"
	"github.com/bedrock-go/bedrock/lock/guard/internal/fencesql"
)

// Options tune a [Guard]. Nil and the zero value are the defaults.
type Options struct {
	// Table is where tokens are kept. Defaults to bedrock_guard.
	Table string
	// Observer is told of every refusal, see [lock.EventRefused]. Defaults to nobody.
	Observer lock.Observer
}

// DB begins transactions: a *pgxpool.Pool, or a *pgx.Conn that nobody else uses.
type DB interface {
	BeginTx(ctx context.Context, opts pgx.TxOptions) (pgx.Tx, error)
}

// Guard remembers the newest token of each name in a table. It may be used by many goroutines at once if its DB may.
// It is a [guard.Store].
type Guard struct {
	db       DB
	table    *fencesql.Table
	observer lock.Observer
}

// New returns a guard over the database that has the data. It does not touch the database; Migrate makes the table.
func New(db DB, opts *Options) (*Guard, error) {
	if opts == nil {
		opts = &Options{}
	}
	table, err := fencesql.NewTable(sqlkind.Postgres, opts.Table)
	if err == nil && db == nil {
		err = &input.Error{Field: "db", Problem: "is nil"}
	}
	if err != nil {
		return nil, fmt.Errorf("pgxguard: %w", err)
	}
	return &Guard{db: db, table: table, observer: opts.Observer}, nil
}

// Migrate makes the table if it is not there. Several may do so at once.
func (g *Guard) Migrate(ctx context.Context) error {
	err := pgx.BeginTxFunc(ctx, g.db, pgx.TxOptions{}, func(tx pgx.Tx) error {
		for _, statement := range g.table.Schema {
			if _, err := tx.Exec(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("pgxguard: migrate table %s: %w", g.table.Name, err)
	}
	return nil
}

// Announce remembers a token for good, in a transaction of its own. It waits for transactions that have checked a
// ticket of the same name: when it returns nil, all that older holders will ever have written is committed. A newer
// token that is known is a [*guard.StaleError]. Announce before the own transaction has begun: it would wait for one
// that has checked the name.
func (g *Guard) Announce(ctx context.Context, t guard.Ticket) error {
	if err := t.Check(); err != nil {
		return fmt.Errorf("pgxguard: announce: %w", err)
	}
	// Whatever the default is, nothing is read that a snapshot would have to keep.
	opts := pgx.TxOptions{IsoLevel: pgx.ReadCommitted}
	var newest uint64
	err := fencesql.RepeatDeadlocked(ctx, sqlkind.Postgres, func() error {
		return pgx.BeginTxFunc(ctx, g.db, opts, func(tx pgx.Tx) (err error) {
			newest, err = g.raiseToken(ctx, tx, t)
			return err
		})
	})
	if err != nil {
		return fmt.Errorf("pgxguard: announce %q: %w", t.Name, err)
	}
	return guard.Observed(ctx, g.observer, guard.Compare(t, newest))
}

// Check remembers a token in the transaction of the write, and has its name until that ends. A newer token that is
// known is a [*guard.StaleError]: roll back. After any other error the transaction cannot go on; roll back as well.
// Check before the first read of the transaction.
func (g *Guard) Check(ctx context.Context, tx pgx.Tx, t guard.Ticket) error {
	err := t.Check()
	if tx == nil {
		err = &input.Error{Field: "tx", Problem: "is nil"}
	}
	if err != nil {
		return fmt.Errorf("pgxguard: check: %w", err)
	}
	newest, err := g.raiseToken(ctx, tx, t)
	if err != nil {
		return fmt.Errorf("pgxguard: check %q: %w", t.Name, err)
	}
	return guard.Observed(ctx, g.observer, guard.Compare(t, newest))
}

// raiseToken remembers a token unless a newer one is known, and returns the newest.
func (g *Guard) raiseToken(ctx context.Context, tx pgx.Tx, t guard.Ticket) (newest uint64, err error) {
	err = tx.QueryRow(ctx, g.table.Raise, g.table.NameSent(t.Name), t.Token).Scan(&newest)
	return newest, err
}
