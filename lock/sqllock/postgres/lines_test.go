package postgres_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/sqltest"
	"github.com/bedrock-go/bedrock/lock/sqllock/postgres"
)

// TestErrorHasLines: nobody listens at two addresses, of each of which pgx has a line.
func TestErrorHasLines(t *testing.T) {
	db, err := sql.Open("pgx", "postgres://app@"+testenv.Nobody(t)+","+testenv.Nobody(t)+"/app?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	g := driver.Grant{Name: "a", Owner: "o:1"}
	for name, open := range leavers() {
		b, err := open(db)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		for request, ask := range map[string]func(context.Context) error{
			"Acquire": func(ctx context.Context) error {
				_, err := b.Acquire(ctx, sqltest.Request("a", "o:1"))
				return err
			},
			"Release": func(ctx context.Context) error {
				_, err := b.Release(ctx, g)
				return err
			},
			"Renew": func(ctx context.Context) error { return b.Renew(ctx, []driver.Grant{g})[0] },
			"List": func(ctx context.Context) error {
				_, err := b.(driver.Inspector).List(ctx, "", 1)
				return err
			},
			"Check": func(ctx context.Context) error {
				_, err := b.(driver.Checker).Check(ctx)
				return err
			},
			"Migrate": func(ctx context.Context) error { return postgres.Migrate(ctx, db, nil) },
		} {
			err := ask(t.Context())
			_, whole := errors.AsType[*pgconn.ConnectError](err)
			if !whole || !errors.Is(err, driver.ErrUnavailable) || strings.ContainsAny(err.Error(), "\n\t") {
				t.Errorf("%s, %s: %v", name, request, err)
			}
		}
	}
}

// TestLossHasLines: the server has ended a session, of which a renewal wants two things.
func TestLossHasLines(t *testing.T) {
	site := sqltest.Postgres(t)
	dsn := site.Fresh(t)
	b := site.Backend(t, dsn, openSession)
	defer b.Close()
	told := make(chan driver.Message, 1)
	b.(driver.Notifier).Notify(func(m driver.Message) { told <- m })
	g, err := b.Acquire(t.Context(), sqltest.Request("a", "o:1"))
	if err != nil {
		t.Fatal(err)
	}
	site.Execute(t, dsn, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "+
		"WHERE datname = current_database() AND pid <> pg_backend_pid()")
	g.TTL = 10 * time.Minute // which the session is not allowed to be silent for
	err = b.Renew(t.Context(), []driver.Grant{g})[0]
	if err == nil || strings.ContainsAny(err.Error(), "\n\t") {
		t.Errorf("renew: %v", err)
	}
	if m := <-told; strings.ContainsAny(m.Why.Error(), "\n\t") {
		t.Errorf("told: %v", m.Why)
	}
}

// TestRightIsAskedForAgainAndAgain: who may not make the row of a name is told so once, and in one line.
func TestRightIsAskedForAgainAndAgain(t *testing.T) {
	site := sqltest.Postgres(t)
	dsn := site.Fresh(t)
	owner := site.Backend(t, dsn, open)
	defer owner.Close()
	if _, err := owner.Acquire(t.Context(), sqltest.Request("a", "o:1")); err != nil {
		t.Fatal(err)
	}
	site.Execute(t, dsn, "CREATE ROLE reader LOGIN PASSWORD 'weak'",
		"GRANT SELECT, UPDATE ON bedrock_locks, bedrock_locks_holders, bedrock_locks_about TO reader")
	_, server, _ := strings.Cut(dsn, "@")
	weak := site.Backend(t, "postgres://reader:weak@"+server, open)
	defer weak.Close()
	req := sqltest.Request("b", "o:2")
	req.Mode = driver.Shared
	_, err := weak.Acquire(t.Context(), req)
	refused := errors.Is(err, driver.ErrRefused) && !errors.Is(err, driver.ErrUnavailable)
	if !refused || strings.Contains(err.Error(), "\n") {
		t.Errorf("the account may not insert: %v", err)
	}
}
