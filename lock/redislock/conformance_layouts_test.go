//go:build !race

// What differs from the usual layouts is in scripts: the code that the race detector looks at is that of the other
// suites.

package redislock_test

import (
	"testing"

	"github.com/bedrock-go/bedrock/internal/conformance"
	"github.com/bedrock-go/bedrock/lock/locktest"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn"
)

func TestConformanceRedlockProfile(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		locktest.Run(t, locktest.Backend{
			Open:   standalone(connect, &redislock.Options{Profile: redislock.Redlock}),
			Exempt: conformance.Redlock().Exempt,
		})
	})
}

// TestConformanceRSemaphore exempts nothing that the other layout of semaphores does not. It is for one library, and
// TestConformanceClusterRSemaphore for the other.
func TestConformanceRSemaphore(t *testing.T) {
	t.Parallel()
	locktest.Run(t, locktest.Backend{
		Open:   standalone(connectRueidis, &redislock.Options{Semaphores: redislock.RSemaphore}),
		Exempt: conformance.Redis().Exempt,
	})
}

func TestConformanceClusterRSemaphore(t *testing.T) {
	t.Parallel()
	conformsInCluster(t, connectGoredis, &redislock.Options{Semaphores: redislock.RSemaphore})
}
