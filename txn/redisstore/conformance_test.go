package redisstore_test

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/redisstore"
	"github.com/bedrock-go/bedrock/txn/txntest"
)

// twin is a store that can be opened again, over connections of its own.
type twin struct {
	*redisstore.Store
	again func(testing.TB) *redisstore.Store
}

func (w twin) Twin(t testing.TB) driver.Store { return w.again(t) }

// conform puts stores that connect makes clients for through the suite, each
// behaviour on keys of its own.
func conform(t *testing.T, connect func(testing.TB) redis.UniversalClient) {
	t.Helper()
	txntest.Run(t, func(t testing.TB) driver.Store {
		again := func(t testing.TB) *redisstore.Store { return open(t, connect(t), ownPrefix(t)) }
		return twin{Store: again(t), again: again}
	})
}

func TestConformanceStandalone(t *testing.T) {
	server := durable(t)
	conform(t, func(t testing.TB) redis.UniversalClient { return connect(t, server) })
}

func TestConformanceCluster(t *testing.T) {
	set, _ := cluster(t, 3, 0)
	conform(t, func(t testing.TB) redis.UniversalClient {
		client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: set.Addrs()})
		t.Cleanup(func() { _ = client.Close() })
		return client
	})
}
