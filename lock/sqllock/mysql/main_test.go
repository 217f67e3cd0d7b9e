package mysql_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/bedrock-go/bedrock/lock/sqllock/internal/sqltest"
)

func TestMain(m *testing.M) {
	sqltest.HoldIfAsked("mysql", openSession)
	goleak.VerifyTestMain(m)
}
