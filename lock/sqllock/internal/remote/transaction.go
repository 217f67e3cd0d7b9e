package remote

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/lock/sqllock/internal/rows"
)

const (
	// rollBackTime is the longest a roll back may take: it is cheaper to make another connection.
	rollBackTime = time.Second
	// rollBack begins no other transaction, as MySQL does where completion_type is CHAIN: it would go back to the pool.
	rollBack = "ROLLBACK AND NO CHAIN"
	// mostStale is how many connections of a pool may turn out to have ended, one after the other.
	mostStale = 10
)

// Transaction is one that ends with the context of whoever wants its end. Those of package sql have none for that, and
// not every driver watches them: over a network that is cut without a word they would go on until the system gives up
// the connection, after minutes.
type Transaction struct {
	rows.Querier

	conn  *sql.Conn
	ended bool
}

// Begin begins a transaction by statements.
func Begin(ctx context.Context, db *sql.DB, statements ...string) (*Transaction, error) {
	for tries := 1; ; tries++ {
		conn, err := db.Conn(ctx)
		if err != nil {
			return nil, err
		}
		if err = runAll(ctx, conn, statements); err == nil {
			return &Transaction{Querier: conn, conn: conn}, nil
		}
		Discard(conn, nil)
		if !errors.Is(err, driver.ErrBadConn) || tries == mostStale { // nothing of it was sent
			return nil, err
		}
	}
}

func runAll(ctx context.Context, conn *sql.Conn, statements []string) error {
	for _, text := range statements {
		if _, err := conn.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

// Commit keeps what was done, by a statement. After an error that may be so nevertheless, unless the database has said
// that it is not.
func (t *Transaction) Commit(ctx context.Context, statement string) error {
	if _, err := t.conn.ExecContext(ctx, statement); err != nil {
		return err
	}
	t.ended = true
	return t.conn.Close()
}

// RollBack ends a transaction that is not committed. Where that cannot be said in time the connection is thrown away:
// nobody else must come into the transaction.
func (t *Transaction) RollBack(ctx context.Context) {
	if t.ended {
		return
	}
	t.ended = true
	limit, cancel := context.WithTimeout(ctx, rollBackTime)
	defer cancel()
	if ctx.Err() == nil && runAll(limit, t.conn, []string{rollBack}) == nil {
		_ = t.conn.Close() // it goes back to the pool
		return
	}
	Discard(t.conn, nil)
}

// Discard has the pool close a connection, and give it to nobody else. Where that is not enough, cut ends the
// connection of the driver first.
func Discard(conn *sql.Conn, cut func(driverConn any)) {
	_ = conn.Raw(func(c any) error {
		if cut != nil {
			cut(c)
		}
		return driver.ErrBadConn // which says so
	})
	_ = conn.Close()
}
