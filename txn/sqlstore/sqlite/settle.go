package sqlite

import "os"

// Settle implements [sqlstore.Settler]: it flushes the write-ahead log, in which a
// commit is as soon as it has returned. SQLite can do that itself, with every commit
// (synchronous=FULL), but then nothing is written meanwhile. What it needs for the
// order of the log and the file it flushes in either mode.
func (d *dialect) Settle() error { return d.log.Sync() }

// openLog opens the log, once: a program that has no descriptors left must not lose
// what was written for want of one. The log stays as long as a connection does.
func openLog(path string) (*os.File, error) { return os.OpenFile(path+"-wal", os.O_RDWR, 0) }
