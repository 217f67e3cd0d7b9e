package combination_test

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bedrock-go/bedrock/internal/conformance"
	"github.com/bedrock-go/bedrock/internal/several/severaltest"
	"github.com/bedrock-go/bedrock/lock/combination"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/locktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformanceInVirtualTime(t *testing.T) {
	locktest.Run(t, inMemory(0))
}

// TestConformanceOfAMajority has two of five nodes hang all the time, the first one among them.
func TestConformanceOfAMajority(t *testing.T) {
	locktest.Run(t, inMemory(2))
}

// inMemory is five nodes in memory, so many of which never answer.
func inMemory(mutes int) locktest.Backend {
	exempt := conformance.Combination().Exempt
	exempt[locktest.Restarting] = "the stores end with the process"
	exempt[locktest.Disconnecting] = "the stores have no connections"
	exempt[locktest.Striking] = "covered alone"
	return locktest.Backend{
		Open: severaltest.InMemory(5, mutes, newBackend), Virtual: true, TTL: 10 * time.Second, Exempt: exempt,
	}
}

func newBackend(t testing.TB, nodes []driver.Backend) driver.Backend {
	t.Helper()
	opts := &combination.Options{NodeTimeout: 100 * time.Millisecond, Retry: time.Second}
	b, err := combination.NewBackend(nodes, opts)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
