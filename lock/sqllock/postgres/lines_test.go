package postgres_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"

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
	for name, open := range leaversAndAdvisory() {
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

func leaversAndAdvisory() map[string]func(*sql.DB) (driver.Backend, error) {
	all := leavers()
	all["advisory"] = openSession
	return all
}
