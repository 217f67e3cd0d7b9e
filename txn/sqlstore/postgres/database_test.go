package postgres_test

import (
	"context"
	"database/sql"
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/internal/chaos"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/sqlstore"
	"github.com/bedrock-go/bedrock/txn/sqlstore/internal/sqltest"
	"github.com/bedrock-go/bedrock/txn/sqlstore/postgres"
)

func TestDatabase(t *testing.T) {
	server := start(t)
	t.Run("Open", func(t *testing.T) { subject(server).Run(t) })
	t.Run("Crash", func(t *testing.T) { sqltest.Crash(t, subject(server), server) })
	t.Run("Freeze", func(t *testing.T) { sqltest.Freeze(t, subject(server), server) })
	t.Run("ClosedAmidWrite", func(t *testing.T) {
		sqltest.ClosedAmidWrite(
			t, subject(server), "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'",
		)
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
		return postgres.New(ctx, db, opts)
	}
	s.Run(t)
	if err := db.PingContext(t.Context()); err != nil {
		t.Errorf("after the stores were closed: %v", err)
	}
}

// TestFrozenClient: nobody who is frozen keeps others from taking over.
func TestFrozenClient(t *testing.T) {
	server := start(t)
	// What is prepared would not be recognized when it is sent.
	url := server.URL(database) + "&default_query_exec_mode=exec"
	sqltest.FrozenClient(t, server.Addr(), func(_ testing.TB, addr string) sqltest.Subject {
		return sqltest.Subject{Open: func(ctx context.Context, opts *sqlstore.Options) (*sqlstore.Store, error) {
			return postgres.Open(ctx, strings.Replace(url, server.Addr(), addr, 1), opts)
		}}
	}, "UPDATE")
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
		return postgres.Open(ctx, url, opts)
	}}
	sqltest.LostAnswer(t, s, proxy)
}

func subject(server *testenv.PostgresServer) sqltest.Subject {
	return sqltest.Subject{
		Open: func(ctx context.Context, opts *sqlstore.Options) (*sqlstore.Store, error) {
			return postgres.Open(ctx, server.URL(database), opts)
		},
		User: func(t testing.TB) *sql.DB {
			t.Helper()
			db, err := sql.Open("pgx", server.DSN(database))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { db.Close() })
			return db
		},
	}
}

// TestPoisonousRow: PostgreSQL keeps no text with a zero byte.
func TestPoisonousRow(t *testing.T) {
	poison := &driver.Record{ID: "zero\x00byte", Status: driver.Running}
	sqltest.PoisonousRow(t, subject(start(t)), poison)
}

// TestAccountOfAnotherEncoding: what is written for a person to read, whatever is set for the account.
func TestAccountOfAnotherEncoding(t *testing.T) {
	server := start(t)
	s := subject(server)
	_, err := s.User(t).ExecContext(t.Context(), "ALTER DATABASE "+database+" SET client_encoding = 'EUC_JP'")
	if err != nil {
		t.Fatal(err)
	}
	store := s.Store(t, nil)
	want := &driver.Record{ID: "t1", Status: driver.Running, Parked: "no answer about 3 €"}
	if err := store.Create(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	if got, err := store.Load(t.Context(), "t1"); err != nil || got.Parked != want.Parked {
		t.Errorf("%+v: %v", got, err)
	}
}
