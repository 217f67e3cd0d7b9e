package mysql_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/internal/chaos"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/sqlstore"
	"github.com/bedrock-go/bedrock/txn/sqlstore/internal/sqltest"
	"github.com/bedrock-go/bedrock/txn/sqlstore/mysql"
)

func TestDatabase(t *testing.T) {
	server := start(t)
	t.Run("Open", func(t *testing.T) { subject(server).Run(t) })
	t.Run("Crash", func(t *testing.T) { sqltest.Crash(t, subject(server), server) })
	t.Run("Freeze", func(t *testing.T) { sqltest.Freeze(t, subject(server), server) })
	t.Run("ClosedAmidWrite", func(t *testing.T) {
		sqltest.ClosedAmidWrite(t, subject(server), "SELECT variable_value FROM information_schema.global_status "+
			"WHERE variable_name = 'Innodb_row_lock_current_waits'")
	})
	t.Run("Unreachable", func(t *testing.T) { sqltest.Unreachable(t, subject(server), server) })
}

// TestGivenDatabase: a store gets along with the connections its user has, be
// there as few as two, and leaves them open.
func TestGivenDatabase(t *testing.T) {
	server := start(t)
	s := subject(server)
	db := s.User(t)
	db.SetMaxOpenConns(2)
	s.Open = func(ctx context.Context, opts *sqlstore.Options) (*sqlstore.Store, error) {
		return mysql.New(ctx, db, opts)
	}
	s.Run(t)
	if err := db.PingContext(t.Context()); err != nil {
		t.Errorf("after the stores were closed: %v", err)
	}
}

// TestFrozenClient: nobody who is frozen keeps others from taking over, be it by
// the way the store connects, or by what users are told to do themselves.
func TestFrozenClient(t *testing.T) {
	server := start(t)
	t.Run("Open", func(t *testing.T) {
		t.Parallel()
		sqltest.FrozenClient(t, server.Addr(), func(_ testing.TB, addr string) sqltest.Subject {
			return sqltest.Subject{Open: func(ctx context.Context, opts *sqlstore.Options) (*sqlstore.Store, error) {
				return mysql.Open(ctx, strings.Replace(server.URL(database), server.Addr(), addr, 1), opts)
			}}
		}, "UPDATE")
	})
	const given = "given"
	server.CreateDatabase(given)
	t.Run("New", func(t *testing.T) {
		t.Parallel()
		sqltest.FrozenClient(t, server.Addr(), func(t testing.TB, addr string) sqltest.Subject {
			t.Helper()
			dsn := strings.Replace(server.DSN(given), server.Addr(), addr, 1)
			db, err := sql.Open("mysql", dsn+"&interpolateParams=true&idle_transaction_timeout=5&net_write_timeout=5")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { db.Close() })
			return sqltest.Subject{Open: func(ctx context.Context, opts *sqlstore.Options) (*sqlstore.Store, error) {
				return mysql.New(ctx, db, opts)
			}}
		}, "FOR UPDATE")
	})
}

// TestLostAnswer: what may be written is not called unwritten.
func TestLostAnswer(t *testing.T) {
	server := start(t)
	proxy, err := chaos.New(server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { proxy.Close() })
	url := strings.Replace(server.URL(database), server.Addr(), proxy.Addr(), 1)
	s := sqltest.Subject{Open: func(ctx context.Context, opts *sqlstore.Options) (*sqlstore.Store, error) {
		return mysql.Open(ctx, url, opts)
	}}
	sqltest.LostAnswer(t, s, proxy)
}

// TestServerTurnedReadOnly: after a fail-over the name leads to another server, but
// connections stay with the one that has become a replica. They are given up, and
// nobody is told that his record is at fault.
func TestServerTurnedReadOnly(t *testing.T) {
	server := start(t)
	admin := subject(server).User(t)
	run := func(statement string) {
		t.Helper()
		if _, err := admin.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	run("CREATE USER plain@'127.0.0.1' IDENTIFIED BY 'secret'")
	run("GRANT ALL ON " + database + ".* TO plain@'127.0.0.1'")
	store, err := mysql.Open(t.Context(), "mysql://plain:secret@"+server.Addr()+"/"+database, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	if err := store.Create(t.Context(), &driver.Record{ID: "before", Status: driver.Running}); err != nil {
		t.Fatal(err)
	}
	run("SET GLOBAL read_only = 1")
	const newest = "SELECT COALESCE(MAX(id), 0) FROM information_schema.processlist WHERE user = 'plain'"
	var was, is int64
	if err := admin.QueryRowContext(t.Context(), newest).Scan(&was); err != nil {
		t.Fatal(err)
	}
	err = store.Create(t.Context(), &driver.Record{ID: "refused", Status: driver.Running})
	if !errors.Is(err, driver.ErrUnavailable) {
		t.Errorf("read-only server: %v, want %v", err, driver.ErrUnavailable)
	}
	run("SET GLOBAL read_only = 0")
	if err := store.Create(t.Context(), &driver.Record{ID: "after", Status: driver.Running}); err != nil {
		t.Errorf("writable again: %v", err)
	}
	if err := admin.QueryRowContext(t.Context(), newest).Scan(&is); err != nil || is <= was {
		t.Errorf("connection %d was kept, %v: the next one is %d", was, err, is)
	}
}

func subject(server *testenv.MariaDBServer) sqltest.Subject {
	return sqltest.Subject{
		Open: func(ctx context.Context, opts *sqlstore.Options) (*sqlstore.Store, error) {
			return mysql.Open(ctx, server.URL(database), opts)
		},
		User: func(t testing.TB) *sql.DB {
			t.Helper()
			db, err := sql.Open("mysql", server.DSN(database))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { db.Close() })
			return db
		},
	}
}

// TestPoisonousRow: MySQL takes no packet larger than it is told.
func TestPoisonousRow(t *testing.T) {
	server := testenv.StartMariaDB(t, &testenv.MariaDBOptions{Args: []string{"--max-allowed-packet=1M"}})
	server.CreateDatabase(database)
	poison := &driver.Record{ID: "large", Status: driver.Running, State: make([]byte, 2<<20)}
	sqltest.PoisonousRow(t, subject(server), poison)
}
