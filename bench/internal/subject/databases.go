package subject

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/bench/internal/sqld"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/sqllock/mysql"
	"github.com/bedrock-go/bedrock/lock/sqllock/postgres"
)

const (
	// sharedConns is how many connections those have who need none for each lock, however many want locks.
	sharedConns = 32
	// pinnedConns is how many stay open where each lock and each who waits has one.
	pinnedConns = 128
)

// onPostgres returns those whose locks are in PostgreSQL.
func onPostgres() []Subject {
	words := dialect{store: Postgres, client: "pgx"}
	return []Subject{
		words.subject("bedrock-postgres", Bedrock, func(db *sql.DB, lease time.Duration) (Locker, error) {
			locks, err := postgres.New(db, &postgres.Options{Lock: lock.Options{TTL: lease}})
			return bedrockOf(locks, err, db.Close)
		}),
		words.pinned("pg-advisory-lock",
			"SELECT pg_advisory_lock(hashtextextended($1, 0))", "SELECT pg_advisory_unlock(hashtextextended($1, 0))"),
		words.shedlock("shedlock-postgres", shedlockPostgres()),
		words.raw("raw-postgres", `CREATE TABLE IF NOT EXISTS bench_raw (
				name VARCHAR(255) PRIMARY KEY, owner VARCHAR(64) NOT NULL, until TIMESTAMP NOT NULL)`,
			`INSERT INTO bench_raw (name, owner, until) VALUES ($1, $2, now() + interval '30 seconds')
				ON CONFLICT DO NOTHING`,
			"DELETE FROM bench_raw WHERE name = $1 AND owner = $2"),
		words.ping("ping-postgres"),
	}
}

// onMariaDB returns those whose locks are in MariaDB.
func onMariaDB() []Subject {
	words := dialect{store: MariaDB, client: "go-sql-driver"}
	return []Subject{
		words.subject("bedrock-mariadb", Bedrock, func(db *sql.DB, lease time.Duration) (Locker, error) {
			locks, err := mysql.New(db, &mysql.Options{Lock: lock.Options{TTL: lease}})
			return bedrockOf(locks, err, db.Close)
		}),
		words.pinned("get-lock", "SELECT GET_LOCK(?, 60) = 1", "SELECT RELEASE_LOCK(?) = 1"),
		words.shedlock("shedlock-mariadb", shedlockMariaDB()),
		words.raw("raw-mariadb", `CREATE TABLE IF NOT EXISTS bench_raw (
				name VARCHAR(255) PRIMARY KEY, owner VARCHAR(64) NOT NULL, until DATETIME(6) NOT NULL)`,
			`INSERT IGNORE INTO bench_raw (name, owner, until)
				VALUES (?, ?, UTC_TIMESTAMP(6) + INTERVAL 30 SECOND)`,
			"DELETE FROM bench_raw WHERE name = ? AND owner = ?"),
		words.ping("ping-mariadb"),
	}
}

// dialect is a database and the client of all that use it.
type dialect struct {
	store  Store
	client string
}

// subject is one that opens what it is with a pool of connections of its own.
func (d dialect) subject(name string, role Role, open func(*sql.DB, time.Duration) (Locker, error)) Subject {
	return Subject{
		Name: name, Role: role, Store: d.store, Client: d.client,
		Open: func(ctx context.Context, at Site, lease time.Duration) (Locker, error) {
			db, err := sqld.OpenPlace(d.store.String(), at.Addr)
			if err != nil {
				return nil, fmt.Errorf("connect to %s: %w", d.store, err)
			}
			db.SetMaxOpenConns(sharedConns)
			db.SetMaxIdleConns(sharedConns)
			if err := db.PingContext(ctx); err != nil {
				return nil, fmt.Errorf("connect to %s: %w", d.store, err)
			}
			return open(db, lease)
		},
	}
}

// ping asks for nothing.
func (d dialect) ping(name string) Subject {
	return d.subject(name, Ping, func(db *sql.DB, _ time.Duration) (Locker, error) {
		return &sqlLocker{DB: db, mutex: func(string) Mutex { return pingMutex{db} }}, nil
	})
}

// pinned is locks of the server's sessions, by a statement each: who has one, or waits for it, has a connection.
func (d dialect) pinned(name, take, give string) Subject {
	s := d.subject(name, Peer, func(db *sql.DB, _ time.Duration) (Locker, error) {
		db.SetMaxOpenConns(0)
		db.SetMaxIdleConns(pinnedConns)
		return &sqlLocker{DB: db, mutex: func(name string) Mutex {
			return &pinnedMutex{db: db, name: name, take: take, give: give}
		}}, nil
	})
	s.Pinned = true
	return s
}

// raw puts a row in and deletes it, by primary key.
func (d dialect) raw(name, table, insert, remove string) Subject {
	return d.subject(name, Raw, func(db *sql.DB, _ time.Duration) (Locker, error) {
		return newRawRows(db, table, insert, remove)
	})
}

// sqlLocker is mutexes that are made of a database.
type sqlLocker struct {
	*sql.DB

	mutex func(name string) Mutex
}

// Mutex implements Locker.
func (l *sqlLocker) Mutex(name string) Mutex { return l.mutex(name) }

// pingMutex is asked for to know how long an answer takes.
type pingMutex struct{ db *sql.DB }

// Lock implements Mutex.
func (m pingMutex) Lock(ctx context.Context) error {
	var one int
	return m.db.QueryRowContext(ctx, "SELECT 1").Scan(&one)
}

// Unlock implements Mutex.
func (m pingMutex) Unlock(context.Context) error { return nil }
