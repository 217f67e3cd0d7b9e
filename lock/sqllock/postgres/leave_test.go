package postgres_test

import (
	"database/sql"
	"testing"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/sqltest"
)

// leavers are the profiles whose requests may have to wait for somebody's row.
func leavers() map[string]func(*sql.DB) (driver.Backend, error) {
	return map[string]func(*sql.DB) (driver.Backend, error){
		"bedrock_locks": open, "shedlock": openShedLock, "bedrock_session_locks": openSession,
	}
}

// TestTheDeadTakeLocks has processes end while the server still makes their requests.
func TestTheDeadTakeLocks(t *testing.T) {
	leave := sqltest.Leave{
		Site: sqltest.Postgres(t), Open: leavers(),
		Busy: "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' " +
			"AND pid <> pg_backend_pid()",
		Held: "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' " +
			"AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
	}
	leave.TheDeadTakeLocks(t)
}
