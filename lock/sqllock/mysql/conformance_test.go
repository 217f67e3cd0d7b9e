package mysql_test

import (
	"database/sql"
	"testing"

	"github.com/bedrock-go/bedrock/internal/conformance"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/locktest"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/sqltest"
	"github.com/bedrock-go/bedrock/lock/sqllock/mysql"
)

func open(db *sql.DB) (driver.Backend, error) { return mysql.NewBackend(db, nil) }

func TestConformance(t *testing.T) { conforms(t) }

func conforms(t *testing.T, args ...string) {
	t.Helper()
	locktest.Run(t, sqltest.MariaDB(t, args...).Conformance(t, &sqltest.Suite{
		Open:   open,
		Reset:  []string{"DROP TABLE IF EXISTS bedrock_locks, bedrock_locks_holders, bedrock_locks_about"},
		Exempt: conformance.MySQL().Exempt,
	}))
}
