package sqlite

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	lib "modernc.org/sqlite/lib"
)

// leastSpace is what SQLite needs beside a file to begin with it.
const leastSpace = 32 << 10

// withCause says beside an error of SQLite what has led to it, as far as that can be seen: SQLite tells only what it
// could not do.
func (f *file) withCause(err error) error { return withCauseAt(f.path, err) }

func withCauseAt(path string, err error) error {
	var why string
	switch codeOf(err) & 0xff {
	case lib.SQLITE_READONLY, lib.SQLITE_PERM:
		why = whyShut(path)
	case lib.SQLITE_CANTOPEN, lib.SQLITE_IOERR:
		why = cmp.Or(whyShut(path), whyFull(path))
	case lib.SQLITE_FULL:
		why = whyFull(path)
	case 0:
		if errors.Is(err, fs.ErrPermission) {
			why = whyShut(path)
		}
	}
	if why == "" {
		return err
	}
	return fmt.Errorf("%s: %w", why, err)
}

func whyFull(path string) string {
	if folder := filepath.Dir(path); isDiskFull(folder) {
		return fmt.Sprintf("the disk of %s is full", folder)
	}
	return ""
}
