package quorum_test

import (
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/conformance"
	"github.com/bedrock-go/bedrock/internal/several/severaltest"
	"github.com/bedrock-go/bedrock/lock/locktest"
)

func TestConformanceInRedis(t *testing.T) {
	t.Parallel()
	locktest.Run(t, inRedis(0))
}

// TestConformanceOfAMajorityInRedis has two of five servers frozen all the time.
func TestConformanceOfAMajorityInRedis(t *testing.T) {
	t.Parallel()
	b := inRedis(2)
	b.Exempt[locktest.Striking] = "one more that fails, and there is no majority"
	b.Exempt["NamesMeet"] = "names are the business of each server; all five are there in the other run"
	locktest.Run(t, b)
}

// inRedis is five servers, so many of which never answer.
func inRedis(mutes int) locktest.Backend {
	return locktest.Backend{
		Open: severaltest.InRedis(5, mutes, severaltest.GoRedis, newBackend), TTL: time.Second,
		Exempt: conformance.Quorum().Exempt,
	}
}
