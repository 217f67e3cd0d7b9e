package postgres_test

import (
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/sqltest"
)

// namesAreTranslated has a connection take names for texts of another encoding: who is told the same over another
// connection would have the same lock.
func namesAreTranslated(t *testing.T, site *sqltest.Site, dsn string) {
	const name = "z\u00e4hler"
	for i, opened := range []func(*sql.DB) (driver.Backend, error){open, openShedLock, openSession} {
		holder := site.Backend(t, dsn, opened)
		if _, err := holder.Acquire(t.Context(), sqltest.Request(name, "o:1")); err != nil {
			t.Fatal(err)
		}
		for encoding, want := range map[string]error{
			"LATIN1": driver.ErrRefused, "WIN1252": driver.ErrRefused, "SQL_ASCII": driver.ErrHeld,
			"UTF8": driver.ErrHeld,
		} {
			b := site.Backend(t, dsn+"&client_encoding="+encoding, opened)
			_, err := b.Acquire(t.Context(), sqltest.Request(name, "o:2"))
			told := want != driver.ErrRefused || err != nil && strings.Contains(err.Error(), "client_encoding is ")
			if !errors.Is(err, want) || !told {
				t.Errorf("%d, %s: %v, want %v", i, encoding, err, want)
			}
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		}
		if err := holder.Close(); err != nil {
			t.Error(err)
		}
	}
}
