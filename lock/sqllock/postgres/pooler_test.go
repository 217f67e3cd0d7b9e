package postgres_test

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/sqltest"
)

// startPooler starts a server with a database for the tests, and a pooler before it.
func startPooler(t *testing.T) (server *testenv.PostgresServer, pooler *testenv.PgBouncer) {
	t.Helper()
	server = testenv.StartPostgres(t, nil)
	server.CreateDatabase("app")
	return server, testenv.StartPgBouncer(t, server)
}

// openOver opens a backend over a pool of its own.
func openOver(t *testing.T, dsn string, open func(*sql.DB) (driver.Backend, error)) (driver.Backend, *sql.DB) {
	t.Helper()
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	b, err := open(db)
	if err != nil {
		t.Fatal(err)
	}
	return b, db
}

// TestPoolerIsToldOf asks what is wrong behind a pooler, which may not keep what is prepared.
func TestPoolerIsToldOf(t *testing.T) {
	server, pooler := startPooler(t)
	for dsn, want := range map[string][2]bool{
		pooler.PreparingDSN("app"): {true, true}, pooler.DSN("app"): {true, false}, server.DSN("app"): {false, false},
		pooler.PreparingDSN("app") + "&default_query_exec_mode=exec": {true, false},
	} {
		b, _ := openOver(t, dsn, open)
		defer b.Close()
		found, err := b.(driver.Checker).Check(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		told := fmt.Sprint(found)
		is := [2]bool{strings.Contains(told, "nothing is told"), strings.Contains(told, "statements are prepared")}
		if is != want {
			t.Errorf("%s: %v, want %v: %s", dsn, is, want, told)
		}
	}
}

// TestPoolerLosesStatements has two programs prepare their statements behind a pooler.
func TestPoolerLosesStatements(t *testing.T) {
	_, pooler := startPooler(t)
	var told error
	for range 3 { // the pooler has two connections
		b, _ := openOver(t, pooler.PreparingDSN("app"), open)
		defer b.Close()
		_, err := b.Acquire(t.Context(), sqltest.Request("a", "o:1"))
		told = errors.Join(told, err)
	}
	if !errors.Is(told, driver.ErrRefused) || !strings.Contains(told.Error(), "default_query_exec_mode=exec") {
		t.Errorf("the programs were told: %v", told)
	}
}

// TestPoolerLendsTheSession: behind a pooler that lends connections by the transaction, two have one session.
func TestPoolerLendsTheSession(t *testing.T) {
	server, pooler := startPooler(t)
	for dsn, behind := range map[string]bool{pooler.DSN("app"): true, server.DSN("app"): false} {
		b, _ := openOver(t, dsn, openSession)
		_, err := b.Acquire(t.Context(), sqltest.Request("a", "o:1"))
		switch {
		case !behind && err != nil:
			t.Error(err)
		case behind && (!errors.Is(err, driver.ErrUnsupported) || !strings.Contains(err.Error(), "pooler")):
			t.Errorf("behind a pooler: %v", err)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestPoolerGoesOnListening: the connection that a pooler has lent is lent to others afterwards.
func TestPoolerGoesOnListening(t *testing.T) {
	_, pooler := startPooler(t)
	b, db := openOver(t, pooler.DSN("app"), open)
	waiter := waiterOf(t, b)
	if _, err := waiter.Watch(t.Context(), "a", driver.Mutex); !errors.Is(err, driver.ErrUnsupported) {
		t.Errorf("behind a pooler: %v", err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	var channels int
	if err := db.QueryRow("SELECT count(*) FROM pg_listening_channels()").Scan(&channels); err != nil || channels > 0 {
		t.Errorf("the next one listens to %d channels: %v", channels, err)
	}
}
