package subject

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"
)

// tableTime bounds the making of a table, for which some wait for others.
const tableTime = 5 * time.Second

// makeTable makes a table unless it is there.
func makeTable(db *sql.DB, statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), tableTime)
	defer cancel()
	_, err := db.ExecContext(ctx, statement)
	if err == nil {
		return nil
	}
	// Two processes that make it at the same time may both find it missing, and then one is refused.
	if _, again := db.ExecContext(ctx, statement); again != nil {
		return fmt.Errorf("make table: %w", again)
	}
	return nil
}

// newRawRows returns locks that are rows, each put in by one statement and deleted by another.
func newRawRows(db *sql.DB, table, insert, remove string) (Locker, error) {
	if err := makeTable(db, table); err != nil {
		return nil, err
	}
	return &sqlLocker{DB: db, mutex: func(name string) Mutex {
		return &rawRow{db: db, insert: insert, remove: remove, name: name, values: newValues()}
	}}, nil
}

type rawRow struct {
	db             *sql.DB
	insert, remove string
	name           string
	values         values
	value          string
}

// Lock fails when the row is there; it does not wait.
func (m *rawRow) Lock(ctx context.Context) error {
	m.value = m.values.nextValue()
	done, err := changesRow(ctx, m.db, m.insert, m.name, m.value)
	if err == nil && !done {
		err = errTaken
	}
	return err
}

// Unlock implements Mutex.
func (m *rawRow) Unlock(ctx context.Context) error {
	done, err := changesRow(ctx, m.db, m.remove, m.name, m.value)
	if err == nil && !done {
		err = errNotHeld
	}
	return err
}

// changesRow runs a statement, and reports whether a row is another one now. When many contexts end at once, so do
// their connections, and a statement may meet only such ones; then it has not been sent.
func changesRow(ctx context.Context, db *sql.DB, statement string, args ...any) (bool, error) {
	result, err := db.ExecContext(ctx, statement, args...)
	for errors.Is(err, driver.ErrBadConn) && ctx.Err() == nil {
		result, err = db.ExecContext(ctx, statement, args...)
	}
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0, err
}

// pinnedMutex is a lock of a session of the server.
type pinnedMutex struct {
	db         *sql.DB
	name       string
	take, give string
	conn       *sql.Conn
}

// Lock implements Mutex.
func (m *pinnedMutex) Lock(ctx context.Context) error {
	conn, err := m.db.Conn(ctx)
	if err != nil {
		return err
	}
	if err := asks(ctx, conn, m.take, m.name); err != nil {
		_ = conn.Close() // it goes back to the others, or is gone
		return err
	}
	m.conn = conn
	return nil
}

// Unlock implements Mutex.
func (m *pinnedMutex) Unlock(ctx context.Context) error {
	err := asks(ctx, m.conn, m.give, m.name)
	_ = m.conn.Close() // it goes back to the others
	return err
}

// asks runs a statement that is not answered by "no".
func asks(ctx context.Context, conn *sql.Conn, statement, name string) error {
	var answer sql.NullString // PostgreSQL's advisory locks return nothing, or a boolean
	if err := conn.QueryRowContext(ctx, statement, name).Scan(&answer); err != nil {
		return err
	}
	if answer.Valid && (answer.String == "0" || answer.String == "false") {
		return errNotHeld
	}
	return nil
}
