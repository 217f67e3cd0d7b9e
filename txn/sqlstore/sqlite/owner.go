package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// ErrInUse says that another store, most likely of another process, has the file open.
var ErrInUse = errors.New("another store has the file open, and it belongs to one unless all set Shared")

// ending is how long a store waits for one that is about to end.
const ending = time.Second

// own holds a lock that says whose the file is, until it is closed or the process ends,
// however it ends: alone, or together with others that share it. The lock is SQLite's
// own, on an empty database beside the file, so it holds wherever SQLite does.
func own(ctx context.Context, path string, shared bool) (*sql.DB, error) {
	c, err := newConnector(ownerSource(path), nil)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(1)
	if err := lockFile(ctx, db, shared); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// lockFile leaves the only connection in a transaction that nobody ends.
func lockFile(ctx context.Context, db *sql.DB, shared bool) error {
	text := "BEGIN EXCLUSIVE"
	if shared {
		text = "BEGIN; SELECT count(*) FROM sqlite_schema"
	}
	_, err := db.ExecContext(ctx, text)
	if e, ok := errors.AsType[*sqlite.Error](err); ok && e.Code()&0xff == lib.SQLITE_BUSY {
		return ErrInUse
	}
	return err
}

// ownerSource names the database of the lock. SQLite makes it, with the permissions of
// the file: on Unix a process that closes a file it has opened by itself loses the locks
// that SQLite has there.
func ownerSource(path string) string {
	return address(path+"-owner", map[string][]string{
		"modeof":  {path},
		"_pragma": {fmt.Sprintf("busy_timeout(%d)", ending.Milliseconds())},
	})
}
