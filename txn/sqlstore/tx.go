package sqlstore

import (
	"context"
	"database/sql"
	"errors"
)

// unwritten is an error after which nothing was written.
type unwritten struct{ error }

func (e unwritten) Unwrap() error { return e.error }

// Unwritten marks an error after which nothing of what was to be written is stored, for
// certain.
func Unwritten(err error) error {
	if err == nil {
		return nil
	}
	return unwritten{err}
}

func isUnwritten(err error) bool {
	_, ok := errors.AsType[unwritten](err)
	return ok
}

// InTx runs fn in a transaction and commits it. An error before the commit is marked by
// [Unwritten]: a transaction that was not told to commit does not.
func InTx(ctx context.Context, db *sql.DB, fn func(*sql.Tx) error) error {
	// Not the isolation MySQL has by default, under which rows that were not found
	// are locked, too. The others are at it anyway.
	tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return Unwritten(err)
	}
	if err := fn(tx); err != nil {
		_ = tx.Rollback() // the connection is dropped when even that fails
		return Unwritten(err)
	}
	return tx.Commit()
}
