package quorum_test

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bedrock-go/bedrock/internal/conformance"
	"github.com/bedrock-go/bedrock/internal/several/severaltest"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/locktest"
	"github.com/bedrock-go/bedrock/lock/quorum"
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
	exempt := conformance.Quorum().Exempt
	exempt[locktest.Restarting] = "the stores end with the process"
	exempt[locktest.Disconnecting] = "the stores have no connections"
	exempt[locktest.Striking] = "covered alone"
	return locktest.Backend{
		Open: severaltest.InMemory(5, mutes, newBackend), Virtual: true, TTL: 10 * time.Second, Exempt: exempt,
	}
}

func newBackend(t testing.TB, nodes []driver.Backend) driver.Backend {
	t.Helper()
	b, err := quorum.NewBackend(nodes, &quorum.Options{Quarantine: -1})
	if err != nil {
		t.Fatal(err)
	}
	return b
}
