package subject

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"time"
)

// shedlockPoll is how long who waits for a lock of ShedLock waits before the next try. ShedLock itself does not wait.
const shedlockPoll = 50 * time.Millisecond

// shedlock is the statements of ShedLock 6.9, with the time of the database, for tasks of 30 s at most and no least
// time.
type shedlock struct{ table, insert, update, unlock string }

func shedlockPostgres() shedlock {
	const now = "timezone('utc', CURRENT_TIMESTAMP)"
	const until = now + " + cast('30000 milliseconds' as interval)"
	return shedlock{
		table: `CREATE TABLE IF NOT EXISTS shedlock (name VARCHAR(255) NOT NULL, lock_until TIMESTAMP NOT NULL,
			locked_at TIMESTAMP NOT NULL, locked_by VARCHAR(255) NOT NULL, PRIMARY KEY (name))`,
		insert: "INSERT INTO shedlock(name, lock_until, locked_at, locked_by)" +
			" VALUES($1, " + until + ", " + now + ", $2)" +
			" ON CONFLICT (name) DO UPDATE SET lock_until = " + until + ", locked_at = " + now + ", locked_by = $2" +
			" WHERE shedlock.name = $1 AND shedlock.lock_until <= " + now,
		update: "UPDATE shedlock SET lock_until = " + until + ", locked_at = " + now + ", locked_by = $2" +
			" WHERE name = $1 AND lock_until <= " + now,
		unlock: "UPDATE shedlock SET lock_until = CASE WHEN locked_at + cast('0 milliseconds' as interval) > " + now +
			" THEN locked_at + cast('0 milliseconds' as interval) ELSE " + now + " END" +
			" WHERE name = $1 AND locked_by = $2",
	}
}

func shedlockMariaDB() shedlock {
	const now = "UTC_TIMESTAMP(3)"
	const until = "TIMESTAMPADD(MICROSECOND, 30000000, " + now + ")"
	return shedlock{
		table: `CREATE TABLE IF NOT EXISTS shedlock (name VARCHAR(255) NOT NULL, lock_until TIMESTAMP(3) NOT NULL,
			locked_at TIMESTAMP(3) NOT NULL, locked_by VARCHAR(255) NOT NULL, PRIMARY KEY (name))`,
		insert: "INSERT IGNORE INTO shedlock(name, lock_until, locked_at, locked_by) VALUES(?, " + until + ", " + now +
			", ?)",
		update: "UPDATE shedlock SET lock_until = " + until + ", locked_at = " + now + ", locked_by = ?" +
			" WHERE name = ? AND lock_until <= " + now,
		unlock: "UPDATE shedlock SET lock_until = IF(TIMESTAMPADD(MICROSECOND, 0, locked_at) > " + now +
			", TIMESTAMPADD(MICROSECOND, 0, locked_at), " + now + ") WHERE name = ? AND locked_by = ?",
	}
}

// shedlock is locks by those statements, tried again and again.
func (d dialect) shedlock(name string, words shedlock) Subject {
	s := d.subject(name, Peer, func(db *sql.DB, _ time.Duration) (Locker, error) {
		host, err := os.Hostname()
		if err != nil {
			return nil, err
		}
		if err := makeTable(db, words.table); err != nil {
			return nil, err
		}
		return &sqlLocker{DB: db, mutex: func(name string) Mutex {
			return &shedlockMutex{db: db, words: words, swapped: d.store == MariaDB, name: name, host: host}
		}}, nil
	})
	s.Poll = shedlockPoll
	return s
}

type shedlockMutex struct {
	db         *sql.DB
	words      shedlock
	swapped    bool // the owner comes first in an update, as the parameters have no numbers
	name, host string
	known      bool // there is a row
}

// Lock tries again for as long as ctx lasts.
func (m *shedlockMutex) Lock(ctx context.Context) error {
	for {
		taken, err := m.tryOnce(ctx)
		if taken || err != nil {
			return errors.Join(err, ctx.Err())
		}
		select {
		case <-time.After(shedlockPoll):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// tryOnce inserts the row where it has not been seen, and else changes it.
func (m *shedlockMutex) tryOnce(ctx context.Context) (bool, error) {
	if !m.known {
		m.known = true
		taken, err := changesRow(ctx, m.db, m.words.insert, m.name, m.host)
		if taken || err != nil {
			return taken, err
		}
	}
	if m.swapped {
		return changesRow(ctx, m.db, m.words.update, m.host, m.name)
	}
	return changesRow(ctx, m.db, m.words.update, m.name, m.host)
}

// Unlock implements Mutex.
func (m *shedlockMutex) Unlock(ctx context.Context) error {
	done, err := changesRow(ctx, m.db, m.words.unlock, m.name, m.host)
	if err == nil && !done {
		err = errNotHeld
	}
	return err
}
