package coordtest_test

import (
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"github.com/bedrock-go/bedrock/coord/coordtest"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// virtual is a matrix on the memory store, in virtual time.
func virtual() coordtest.Config {
	return coordtest.Config{
		Open:   func(testing.TB) driver.Store { return memstore.New(nil) },
		Timing: coordtest.Virtual(),
		Each:   synctest.Test,
	}
}

// TestInVirtualTime breaks every call once, and two calls of a run. The two go on side by
// side, and none of the matrices on real stores beside them: where leases are real there
// must be a processor left to renew them.
func TestInVirtualTime(t *testing.T) {
	t.Run("single faults", func(t *testing.T) {
		t.Parallel()
		coordtest.Matrix(t, virtual())
	})
	t.Run("double faults", func(t *testing.T) {
		t.Parallel()
		n := 4000
		if testing.Short() {
			n = 500
		}
		coordtest.Doubles(t, virtual(), n, 1)
	})
}
