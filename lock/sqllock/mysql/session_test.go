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

func openSession(db *sql.DB) (driver.Backend, error) {
	return mysql.NewBackend(db, &mysql.Options{Profile: mysql.NamedLocks})
}

// TestNamedLocks is the conformance of the profile.
func TestNamedLocks(t *testing.T) {
	locktest.Run(t, sqltest.MariaDB(t).Conformance(t, &sqltest.Suite{
		Open: openSession, Reset: []string{"DROP TABLE IF EXISTS bedrock_session_locks"},
		Exempt: conformance.NamedLocks().Exempt,
	}))
}

// TestSession has what may happen to a session.
func TestSession(t *testing.T) {
	s := sqltest.Session{
		Site: sqltest.MariaDB(t), Open: openSession,
		Connections: "SELECT count(*) FROM information_schema.processlist WHERE db = '%s'",
		Full: []string{"CREATE TRIGGER full_disk BEFORE INSERT ON bedrock_session_locks FOR EACH ROW " +
			"SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1021, MESSAGE_TEXT = 'Disk full'"},
	}
	s.Run(t)
}
