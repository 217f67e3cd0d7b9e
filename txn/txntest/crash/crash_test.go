package crash_test

import (
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/memstore"
	"github.com/bedrock-go/bedrock/txn/txntest/crash"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// virtual is a matrix on the memory store, in virtual time.
func virtual() crash.Config {
	return crash.Config{
		Open:   func(testing.TB) driver.Store { return memstore.New(nil) },
		Timing: crash.Virtual(),
		Each:   synctest.Test,
	}
}

// TestSingleFaults breaks every call once.
func TestSingleFaults(t *testing.T) {
	t.Parallel()
	crash.Matrix(t, virtual())
}

// TestDoubleFaults breaks two calls of a run.
func TestDoubleFaults(t *testing.T) {
	t.Parallel()
	n := 4000
	if testing.Short() {
		n = 500
	}
	crash.Doubles(t, virtual(), n, 1)
}
