package sqlite

// Sync implements [sqlstore.Syncer]: it flushes the write-ahead log, in which a
// commit is as soon as it has returned. SQLite can do that itself, with every commit
// (synchronous=FULL), but then nothing is written meanwhile. What it needs for the
// order of the log and the file it flushes in either mode.
func (d *dialect) Sync() error { return d.log.flush() }
