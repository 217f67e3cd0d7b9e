package mysql_test

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/internal/conformance"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/locktest"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/sqltest"
	"github.com/bedrock-go/bedrock/lock/sqllock/mysql"
)

func openShedLock(db *sql.DB) (driver.Backend, error) {
	return mysql.NewBackend(db, &mysql.Options{Profile: mysql.ShedLock})
}

// TestShedLock is the conformance of the profile.
func TestShedLock(t *testing.T) {
	locktest.Run(t, sqltest.MariaDB(t).Conformance(t, &sqltest.Suite{
		Open: openShedLock, Reset: []string{"DROP TABLE IF EXISTS shedlock"}, Exempt: conformance.ShedMySQL().Exempt,
	}))
}

// tableOfShedLock is as its documents have it.
const tableOfShedLock = "CREATE TABLE shedlock(name VARCHAR(64) NOT NULL, lock_until TIMESTAMP(3) NOT NULL, " +
	"locked_at TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3), locked_by VARCHAR(255) NOT NULL, PRIMARY KEY (name))"

// TestShedLocksTable has what may be wrong with the table.
func TestShedLocksTable(t *testing.T) {
	site := sqltest.MariaDB(t)
	s := sqltest.Shed{
		Site: site, Open: openShedLock, Table: tableOfShedLock,
		Ahead: "TIMESTAMPADD(SECOND, %d, UTC_TIMESTAMP(3))",
		Ends:  []string{"9999-12-31 23:59:59"},
	}
	s.Run(t)
	t.Run("SessionOfAnotherZoneSteals", func(t *testing.T) {
		dsn := site.Fresh(t)
		site.Execute(t, dsn, tableOfShedLock)
		b := site.Backend(t, dsn+"&time_zone=%27-08:00%27", openShedLock)
		defer b.Close()
		_, err := b.Acquire(t.Context(), sqltest.Request("a", "o:1"))
		if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), "-08:00") {
			t.Error(err)
		}
	})
	t.Run("ForcedLockIsOfTheFuture", func(t *testing.T) {
		b := site.Backend(t, site.Fresh(t)+"&sql_mode=%27SIMULTANEOUS_ASSIGNMENT,STRICT_ALL_TABLES%27", openShedLock)
		defer b.Close()
		forced(t, b)
	})
	for i, settings := range []string{
		"&time_zone=%27-08:00%27", "&autocommit=0", "&tx_isolation=%27SERIALIZABLE%27", "&interpolateParams=true",
		"&sql_mode=%27ANSI,NO_BACKSLASH_ESCAPES,STRICT_ALL_TABLES%27", "&clientFoundRows=true",
	} {
		t.Run(fmt.Sprint("SettingOfTheTableMatters", i), func(t *testing.T) {
			dsn := site.Fresh(t)
			usual, odd := site.Backend(t, dsn, openShedLock), site.Backend(t, dsn+settings, openShedLock)
			defer usual.Close()
			defer odd.Close()
			sqltest.Exclude(t, usual, odd) // in the table that is made where there is none
		})
	}
}

// TestServerInLondonIsTaken: in winter its times are those of UTC.
func TestServerInLondonIsTaken(t *testing.T) {
	t.Setenv("TZ", "GMT0BST,M3.5.0/1,M10.5.0") // as its zone has it
	site := sqltest.MariaDB(t, "--default-time-zone=SYSTEM")
	dsn := site.DSN(sqltest.Database)
	site.Execute(t, dsn, tableOfShedLock)
	for _, settings := range []string{"", "&time_zone=%27%2B00:00%27"} {
		b := site.Backend(t, dsn+settings, openShedLock)
		defer b.Close()
		g, err := b.Acquire(t.Context(), sqltest.Request("a", "o:1"))
		if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), "and usually GMT") {
			t.Errorf("%s: %d, %v", settings, g.Token, err)
		}
	}
}

// forced has a lock be taken away, and had by somebody else.
func forced(t *testing.T, b driver.Backend) {
	t.Helper()
	if _, err := b.Acquire(t.Context(), sqltest.Request("a", "o:1")); err != nil {
		t.Fatal(err)
	}
	force, ok := b.(driver.Forcer)
	if !ok {
		t.Fatalf("%T is no Forcer", b)
	}
	if released, err := force.ForceRelease(t.Context(), "a"); err != nil || !released {
		t.Fatal(released, err)
	}
	for {
		_, err := b.Acquire(t.Context(), sqltest.Request("a", "o:2"))
		if errors.Is(err, driver.ErrUnavailable) { // within the same millisecond
			continue
		}
		if err != nil {
			t.Error(err)
		}
		return
	}
}
