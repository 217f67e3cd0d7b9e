package sqlite

import (
	"errors"
	"os"
)

// Settle implements [sqlstore.Settler]: it flushes the write-ahead log, in which a
// commit is as soon as it has returned. SQLite can do that itself, with every commit
// (synchronous=FULL), but then nothing is written meanwhile. What it needs for the
// order of the log and the file it flushes in either mode.
//
// The log is opened each time. It may have been removed, and made anew, when for a
// moment no connection was open; what was in it is in the file then.
func (d *dialect) Settle() error {
	log, err := os.OpenFile(d.path+"-wal", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(log.Sync(), log.Close())
}
