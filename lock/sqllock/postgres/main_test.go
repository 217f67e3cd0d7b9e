package postgres_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/sqltest"
)

func TestMain(m *testing.M) {
	sqltest.HoldIfAsked("pgx", openSession)
	sqltest.LeaveIfAsked("pgx", leavers())
	goleak.VerifyTestMain(m)
}

// waiterOf returns a backend as one that tells of releases.
func waiterOf(t *testing.T, b driver.Backend) driver.Waiter {
	t.Helper()
	waiter, ok := b.(driver.Waiter)
	if !ok {
		t.Fatalf("%T is no Waiter", b)
	}
	return waiter
}
