package mysql_test

import (
	"testing"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/sqltest"
)

// query is how a statement without values begins on the wire.
const query = "\x03"

// TestTransaction has its end get no answer.
func TestTransaction(t *testing.T) {
	rows := sqltest.Cut{
		Site: sqltest.MariaDB(t), Open: open, Mode: driver.Shared,
		Commit: query + "commit", LookEnd: query + "rollback",
	}
	shed := rows
	shed.Open, shed.Mode, shed.Settings, shed.LookEnd = openShedLock, driver.Exclusive, "&autocommit=0", shed.Commit
	t.Run("EndsNever", rows.EndsNever)
	t.Run("OfShedLockEndsNever", shed.EndsNever)
	t.Run("LosesOthers", rows.LosesOthers)
	session := shed
	session.Open, session.Settings = openSession, ""
	for name, profile := range map[string]*sqltest.Cut{"Rows": &rows, "ShedLock": &shed, "Session": &session} {
		t.Run(name+"ClosesNever", profile.ClosesNever)
	}
}
