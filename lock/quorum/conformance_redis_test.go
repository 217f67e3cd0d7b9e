package quorum_test

import (
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/several/severaltest"
	"github.com/bedrock-go/bedrock/lock/locktest"
)

func TestConformanceInRedis(t *testing.T) {
	locktest.Run(t, inRedis(5, severaltest.GoRedis))
}

// TestConformanceInRedisWhileTwoFreeze has a majority left when it freezes. What a frozen store may not do, it may.
func TestConformanceInRedisWhileTwoFreeze(t *testing.T) {
	b := inRedis(2, severaltest.GoRedis)
	b.Exempt[locktest.Restarting] = "covered alone"
	locktest.Run(t, b)
}

func inRedis(frozen int, connect severaltest.Library) locktest.Backend {
	return locktest.Backend{
		Open: severaltest.InRedis(5, frozen, connect, newBackend), TTL: time.Second, Exempt: exempt(),
	}
}
