package combination_test

import (
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/conformance"
	"github.com/bedrock-go/bedrock/internal/several/severaltest"
	"github.com/bedrock-go/bedrock/lock/combination"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/locktest"
)

func TestConformanceInRedis(t *testing.T) {
	t.Parallel()
	locktest.Run(t, locktest.Backend{
		Open: severaltest.InRedis(3, 0, severaltest.GoRedis, overRedis), TTL: time.Second,
		Exempt: conformance.Combination().Exempt,
	})
}

// overRedis makes a backend that waits for nodes which are slow because the machine is.
func overRedis(t testing.TB, nodes []driver.Backend) driver.Backend {
	t.Helper()
	opts := &combination.Options{NodeTimeout: time.Second, Retry: 100 * time.Millisecond}
	b, err := combination.NewBackend(nodes, opts)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
