package memlock_test

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bedrock-go/bedrock/internal/conformance"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/locktest"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformanceInVirtualTime(t *testing.T) {
	locktest.Run(t, locktest.Backend{
		Open: open, Virtual: true, TTL: 10 * time.Second, Exempt: conformance.Memory().Exempt,
	})
}

func TestConformanceInRealTime(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds of real time; TestConformanceInVirtualTime does not")
	}
	locktest.Run(t, locktest.Backend{Open: open, Exempt: conformance.Memory().Exempt})
}

// open makes a store whose connections can be frozen: the store itself never
// fails.
func open(testing.TB) locktest.Server {
	store := memlock.NewStore(nil)
	return locktest.WithFreeze(func(testing.TB) driver.Backend { return memlock.NewBackend(store) })
}
