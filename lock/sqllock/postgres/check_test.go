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

// TestPoolerIsToldOf asks what is wrong behind a pooler, which may not keep what is prepared.
func TestPoolerIsToldOf(t *testing.T) {
	server := testenv.StartPostgres(t, nil)
	server.CreateDatabase("app")
	pooler := testenv.StartPgBouncer(t, server)
	plain := strings.Replace(server.DSN("app"), server.Addr(), pooler.Addr(), 1)
	for dsn, want := range map[string][2]bool{
		plain: {true, true}, plain + "&default_query_exec_mode=exec": {true, false}, server.DSN("app"): {false, false},
	} {
		db, err := sql.Open("pgx", dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		b, err := open(db)
		if err != nil {
			t.Fatal(err)
		}
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
	server := testenv.StartPostgres(t, nil)
	server.CreateDatabase("app")
	pooler := testenv.StartPgBouncer(t, server)
	plain := strings.Replace(server.DSN("app"), server.Addr(), pooler.Addr(), 1)
	var told error
	for range 3 { // the pooler has two connections
		db, err := sql.Open("pgx", plain)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		b, err := open(db)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		_, err = b.Acquire(t.Context(), sqltest.Request("a", "o:1"))
		told = errors.Join(told, err)
	}
	if !errors.Is(told, driver.ErrRefused) || !strings.Contains(told.Error(), "default_query_exec_mode=exec") {
		t.Errorf("the programs were told: %v", told)
	}
}

// TestAccounts asks what is wrong for accounts that may not do all.
func TestAccounts(t *testing.T) {
	site := sqltest.Postgres(t)
	accounts := &sqltest.Accounts{
		Create: "CREATE ROLE {user} LOGIN PASSWORD 'weak'",
		Grant:  "GRANT {rights} ON {table} TO {user}",
		Open: map[string]func(*sql.DB) (driver.Backend, error){
			"bedrock_locks": open, "shedlock": openShedLock, "bedrock_session_locks": openSession,
		},
	}
	t.Run("CheckOverlooksThatNobodyMayWrite", func(t *testing.T) { site.CheckOverlooksThatNobodyMayWrite(t, accounts) })
	t.Run("TheRightsAreNotEnough", func(t *testing.T) { site.TheRightsAreNotEnough(t, accounts) })
	t.Run("WriteMayHaveHappened", func(t *testing.T) {
		only := sqltest.ReadOnly{
			Site: site, Accounts: accounts, Settings: []string{"&default_transaction_read_only=on"},
			But: "bedrock_session_locks", // which sets that itself
		}
		only.WriteMayHaveHappened(t)
	})
	t.Run("CrowdLooksFree", func(t *testing.T) { site.CrowdLooksFree(t, accounts) })
}
