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
		for encoding, translated := range map[string]bool{
			"LATIN1": true, "WIN1252": true, "SQL_ASCII": false, "UTF8": false,
		} {
			b := site.Backend(t, dsn+"&client_encoding="+encoding, opened)
			_, err := b.Acquire(t.Context(), sqltest.Request(name, "o:2"))
			refused := errors.Is(err, driver.ErrRefused) && strings.Contains(err.Error(), "client_encoding is ")
			if refused != translated || !translated && !errors.Is(err, driver.ErrHeld) {
				t.Errorf("%d, %s: %v", i, encoding, err)
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
