package sqlite

import (
	"errors"
	"fmt"
	"strings"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/bedrock-go/bedrock/internal/batch"
	"github.com/bedrock-go/bedrock/internal/sqlkind"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// codeOf returns the code of an error of SQLite, 0 if it is none.
func codeOf(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code()
	}
	return 0
}

// isBusy reports whether somebody else is at the file.
func isBusy(err error) bool { return sqlkind.OfSQLite(codeOf(err)) == sqlkind.Busy }

// errEmptied says that somebody has deleted all rows, which are no loss but of the locks.
var errEmptied = errors.New("the tables of locks have been emptied")

// isEmptied reports whether rows or tables are gone that were there. They are made anew.
func isEmptied(err error) bool {
	return errors.Is(err, errEmptied) ||
		codeOf(err) == lib.SQLITE_ERROR && strings.Contains(err.Error(), "no such table: ")
}

// unwritten puts an error into the words of package driver by which nothing was written.
func (f *file) unwritten(err error) error {
	if err == nil || errors.Is(err, driver.ErrRefused) || errors.Is(err, driver.ErrUnavailable) {
		return err
	}
	class := driver.ErrUnavailable
	switch code := codeOf(err); code & 0xff {
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED, lib.SQLITE_IOERR, lib.SQLITE_FULL, lib.SQLITE_CANTOPEN, lib.SQLITE_NOMEM,
		lib.SQLITE_PROTOCOL, lib.SQLITE_INTERRUPT:
	case 0: // not of SQLite, but of what is below or above it
	default:
		class = driver.ErrRefused
	}
	return fmt.Errorf("%w: %w", class, f.withCause(err))
}

// isFull reports whether there was no room for a transaction. So it is then none, also if it was to end: what makes it
// one is the last page that is written.
func isFull(err error) bool { return codeOf(err)&0xff == lib.SQLITE_FULL }

// unsent puts the error of a request that shares a step with others into the words of package driver.
func unsent(err error) error {
	if _, nothing := errors.AsType[*batch.UnsentError](err); nothing {
		return fmt.Errorf("%w: %w", driver.ErrUnavailable, err)
	}
	return err
}

// lockedError says that the file was locked by somebody else for all the time there was.
type lockedError struct {
	path string
	err  error
}

// Error implements error.
func (e *lockedError) Error() string {
	return fmt.Sprintf("%s is locked by another program: %v", e.path, e.err)
}

// Unwrap returns what SQLite says.
func (e *lockedError) Unwrap() error { return e.err }
