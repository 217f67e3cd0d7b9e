package locktest_test

import (
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/locktest"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// A backend's own test opens a new store for every behaviour, and says what it cannot do.
func ExampleRun() {
	_ = func(t *testing.T) {
		locktest.Run(t, locktest.Backend{
			Open: func(testing.TB) locktest.Server {
				store := memlock.NewStore(nil)
				return locktest.Server{
					Connect: func(testing.TB) driver.Backend { return memlock.NewBackend(store) },
				}
			},
			TTL: time.Second,
			Exempt: map[locktest.Capability]string{
				locktest.Identifying:   "it is memory of this process",
				locktest.Freezing:      "it is memory of this process",
				locktest.Restarting:    "it is memory of this process",
				locktest.Disconnecting: "it has no connections",
				locktest.Striking:      "nothing can happen to it",
				locktest.Lagging:       "it has no connections",
			},
		})
	}
}
