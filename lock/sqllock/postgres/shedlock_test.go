package postgres_test

import (
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/internal/conformance"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/locktest"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/sqltest"
	"github.com/bedrock-go/bedrock/lock/sqllock/postgres"
)

func openShedLock(db *sql.DB) (driver.Backend, error) {
	return postgres.NewBackend(db, &postgres.Options{Profile: postgres.ShedLock})
}

// TestShedLock is the conformance of the profile.
func TestShedLock(t *testing.T) {
	locktest.Run(t, sqltest.Postgres(t).Conformance(t, &sqltest.Suite{
		Open: openShedLock, Reset: []string{"DROP TABLE IF EXISTS shedlock"}, Exempt: conformance.ShedPostgres().Exempt,
	}))
}

// tableOfShedLock is as its documents have it.
const tableOfShedLock = "CREATE TABLE shedlock(name VARCHAR(64) NOT NULL, lock_until TIMESTAMP NOT NULL, " +
	"locked_at TIMESTAMP NOT NULL, locked_by VARCHAR(255) NOT NULL, PRIMARY KEY (name))"

// TestShedLocksTable has what may be wrong with the table.
func TestShedLocksTable(t *testing.T) {
	site := sqltest.Postgres(t)
	s := sqltest.Shed{
		Site: site, Open: openShedLock, Table: tableOfShedLock,
		Ahead: "timezone('utc', now()) + %d * interval '1 second'",
		Ends:  []string{"9999-12-31", "infinity"},
	}
	s.Run(t)
	t.Run("TimesHaveAZone", func(t *testing.T) {
		dsn := site.Fresh(t)
		site.Execute(t, dsn, strings.ReplaceAll(tableOfShedLock, "TIMESTAMP", "TIMESTAMPTZ"))
		b := site.Backend(t, dsn, openShedLock)
		defer b.Close()
		_, err := b.Acquire(t.Context(), sqltest.Request("a", "o:1"))
		if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), "time zone") {
			t.Error(err)
		}
	})
	t.Run("TableOfAnotherSchemaIsLookedAt", func(t *testing.T) {
		dsn := site.Fresh(t)
		for schema, times := range map[string]string{"fit": "TIMESTAMP", "unfit": "TIMESTAMPTZ"} {
			table := strings.Replace(tableOfShedLock, "shedlock", schema+".shedlock", 1)
			site.Execute(t, dsn, "CREATE SCHEMA "+schema, strings.ReplaceAll(table, "TIMESTAMP", times))
		}
		for path, fits := range map[string]bool{"fit,unfit": true, "unfit,fit": false} {
			b := site.Backend(t, dsn+"&search_path="+path, openShedLock)
			defer b.Close()
			if _, err := b.Acquire(t.Context(), sqltest.Request("a", "o:1")); (err == nil) != fits {
				t.Errorf("%s: %v", path, err)
			}
		}
	})
	t.Run("SettingMatters", func(t *testing.T) {
		dsn := site.Fresh(t)
		usual := site.Backend(t, dsn, openShedLock)
		odd := site.Backend(t,
			dsn+"&timezone=America/Los_Angeles&default_transaction_isolation=serializable", openShedLock)
		defer usual.Close()
		defer odd.Close()
		sqltest.Exclude(t, usual, odd)
	})
}
