package redisstore_test

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/redisconn"
	"github.com/bedrock-go/bedrock/redisconn/goredis"
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

// conform puts stores over what connect makes through the suite, each
// behaviour on keys of its own.
func conform(t *testing.T, connect func(testing.TB) redisconn.Conn) {
	t.Helper()
	txntest.Run(t, func(t testing.TB) driver.Store {
		again := func(t testing.TB) *redisstore.Store { return openOver(t, connect(t), ownPrefix(t)) }
		return twin{Store: again(t), again: again}
	})
}

func TestConformanceStandalone(t *testing.T) {
	server := durable(t)
	t.Run("goredis", func(t *testing.T) {
		conform(t, func(t testing.TB) redisconn.Conn { return goredis.Wrap(connect(t, server)) })
	})
	t.Run("rueidis", func(t *testing.T) {
		conform(t, func(t testing.TB) redisconn.Conn { return connectRueidis(t, server.Addr()) })
	})
}

func TestConformanceCluster(t *testing.T) {
	set, _ := cluster(t, 3, 0)
	t.Run("goredis", func(t *testing.T) {
		conform(t, func(t testing.TB) redisconn.Conn {
			client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: set.Addrs()})
			t.Cleanup(func() { _ = client.Close() })
			return goredis.Wrap(client)
		})
	})
	t.Run("rueidis", func(t *testing.T) {
		conform(t, func(t testing.TB) redisconn.Conn { return connectRueidis(t, set.Addrs()...) })
	})
}
