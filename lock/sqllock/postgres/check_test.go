package postgres_test

import (
	"database/sql"
	"testing"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/sqltest"
)

// TestCheckOverlooksThatNobodyMayWrite asks what is wrong for an account that only reads.
func TestCheckOverlooksThatNobodyMayWrite(t *testing.T) {
	site := sqltest.Postgres(t)
	site.Execute(t, site.DSN(sqltest.Database), "CREATE ROLE weak LOGIN PASSWORD 'weak'")
	site.CheckOverlooksThatNobodyMayWrite(t, "GRANT %s ON ALL TABLES IN SCHEMA public TO weak",
		map[string]func(*sql.DB) (driver.Backend, error){"rows": open, "shed": openShedLock, "session": openSession})
}
