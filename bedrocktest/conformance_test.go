package bedrocktest_test

import (
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/locktest"
	"github.com/bedrock-go/bedrock/lock/memlock"
	txndriver "github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/memstore"
	"github.com/bedrock-go/bedrock/txn/txntest"
)

// TestBackendHasFaultsOfItsOwn: until it is told otherwise it is a backend like another.
func TestBackendHasFaultsOfItsOwn(t *testing.T) {
	locktest.Run(t, locktest.Backend{
		Virtual: true, TTL: 10 * time.Second,
		Open: func(testing.TB) locktest.Server {
			store := memlock.NewStore(nil)
			return locktest.Server{Connect: func(testing.TB) driver.Backend {
				return bedrocktest.NewBackend(memlock.NewBackend(store))
			}}
		},
		Exempt: map[locktest.Capability]string{
			locktest.Identifying:   "the store is memory of this process",
			locktest.Restarting:    "the store ends with the process",
			locktest.Disconnecting: "the store has no connections",
			locktest.Striking:      "the store is one piece of memory",
			locktest.Freezing:      "frozen by the suite's own Backend, see memlock",
			locktest.Lagging:       "slowed by the suite's own Backend, see memlock",
		},
	})
}

// TestStoreHasFaultsOfItsOwn: until it is told otherwise it is a store like another.
func TestStoreHasFaultsOfItsOwn(t *testing.T) {
	txntest.Run(t, func(testing.TB) txndriver.Store { return bedrocktest.NewStore(memstore.New(nil)) })
}
