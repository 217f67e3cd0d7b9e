package postgres_test

import (
	"testing"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/sqltest"
)

// TestTransaction has its end get no answer.
func TestTransaction(t *testing.T) {
	cut := sqltest.Cut{
		Site: sqltest.Postgres(t), Open: open, Mode: driver.Shared, Commit: "; commit", LookEnd: "rollback",
	}
	t.Run("EndsNever", cut.EndsNever)
	t.Run("LosesOthers", cut.LosesOthers)
	t.Run("ClosesNever", cut.ClosesNever)
}
