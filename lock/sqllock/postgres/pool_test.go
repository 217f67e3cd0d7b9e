package postgres_test

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/sqltest"
	"github.com/bedrock-go/bedrock/lock/sqllock/postgres"
)

// TestPoolOfPgx has programs use a pool of pgx, and lend it: what a client kept of it never comes back.
func TestPoolOfPgx(t *testing.T) {
	site := sqltest.Postgres(t)
	t.Run("SessionGoesOn", func(t *testing.T) { sessionGoesOn(t, site, site.Fresh(t)) })
	t.Run("ConnectionGoesOnListening", func(t *testing.T) { connectionGoesOnListening(t, site, site.Fresh(t)) })
	t.Run("PoolOfOneIsUsedUp", func(t *testing.T) { pgxPoolOfOneIsUsedUp(t, site, site.Fresh(t)) })
	t.Run("LookForASpareLosesALease", func(t *testing.T) { lookForASpareLosesALease(t, site, site.Fresh(t)) })
	t.Run("LocksTakeThePoolOfOne", func(t *testing.T) { locksTakeThePoolOfOne(t, site, site.Fresh(t)) })
}

// lendPool opens a pool of pgx, and one of package sql over it.
func lendPool(t *testing.T, dsn string) (*pgxpool.Pool, *sql.DB) {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	db := stdlib.OpenDBFromPool(pool)
	t.Cleanup(func() { _ = db.Close() })
	return pool, db
}

// wantNowhere asks every connection that the pool has.
func wantNowhere(t *testing.T, pool *pgxpool.Pool, question string) {
	t.Helper()
	for _, conn := range pool.AcquireAllIdle(t.Context()) {
		var left bool
		if err := conn.QueryRow(t.Context(), question).Scan(&left); err != nil || left {
			t.Errorf("%s: %t, %v", question, left, err)
		}
		conn.Release()
	}
}

// sessionGoesOn closes a client that has a lock in its session.
func sessionGoesOn(t *testing.T, site *sqltest.Site, dsn string) {
	pool, db := lendPool(t, dsn)
	b, err := openSession(db)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Acquire(t.Context(), sqltest.Request("a", "o:1")); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	wantNowhere(t, pool, "SELECT current_setting('statement_timeout') <> '0'")
	wantNowhere(t, pool, "SELECT current_setting('idle_session_timeout') <> '0'")
	other, err := postgres.New(site.Connect(t, dsn), &postgres.Options{Profile: postgres.Advisory})
	if err != nil {
		t.Fatal(err)
	}
	sqltest.StopAfter(t, other)
	if _, err := other.Mutex("a", &lock.MutexOptions{Wait: 5 * time.Second}).Lock(t.Context()); err != nil {
		t.Errorf("who was closed has the lock: %v", err)
	}
}

// connectionGoesOnListening closes a client that has waited.
func connectionGoesOnListening(t *testing.T, _ *sqltest.Site, dsn string) {
	pool, db := lendPool(t, dsn)
	b, err := open(db)
	if err != nil {
		t.Fatal(err)
	}
	waiter := waiterOf(t, b)
	w, err := waiter.Watch(t.Context(), "a", driver.Mutex)
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	wantNowhere(t, pool, "SELECT EXISTS (SELECT pg_listening_channels())")
}

// pgxPoolOfOneIsUsedUp has somebody wait, while others go on with the only connection.
func pgxPoolOfOneIsUsedUp(t *testing.T, site *sqltest.Site, dsn string) {
	other := newClient(t, site, dsn, 2)
	held, err := other.Mutex("a", nil).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, db := lendPool(t, dsn+"&pool_max_conns=1")
	c, err := postgres.New(db, nil)
	if err != nil {
		t.Fatal(err)
	}
	sqltest.StopAfter(t, c)
	waited := make(chan error, 1)
	go func() {
		lease, err := c.Mutex("a", &lock.MutexOptions{Wait: 30 * time.Second}).Lock(t.Context())
		if err == nil {
			err = lease.Unlock(t.Context())
		}
		waited <- err
	}()
	keepBusy(t, c)
	if err := held.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-waited; err != nil {
		t.Error(err)
	}
}

// lookForASpareLosesALease has somebody wait, who looks whether the only connection is the only one, while a short
// lease is renewed.
func lookForASpareLosesALease(t *testing.T, site *sqltest.Site, dsn string) {
	other := newClient(t, site, dsn, 2)
	if _, err := other.Mutex("a", nil).Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, db := lendPool(t, dsn+"&pool_max_conns=1")
	c, err := postgres.New(db, &postgres.Options{Lock: lock.Options{TTL: 2 * time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	sqltest.StopAfter(t, c)
	mine, err := c.Mutex("mine", nil).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Mutex("a", &lock.MutexOptions{Wait: 5 * time.Second}).Lock(t.Context()); err == nil {
		t.Error("both have it")
	}
	if err := context.Cause(mine.Context()); err != nil {
		t.Error(err)
	}
}

// locksTakeThePoolOfOne asks for a lock that would keep the only connection.
func locksTakeThePoolOfOne(t *testing.T, _ *sqltest.Site, dsn string) {
	pool, db := lendPool(t, dsn+"&pool_max_conns=1")
	b, err := openSession(db)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if _, err := b.Acquire(t.Context(), sqltest.Request("a", "o:1")); err == nil {
		t.Error("it keeps the only connection")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if err := pool.Ping(ctx); err != nil {
		t.Error(err)
	}
}
