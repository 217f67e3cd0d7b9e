package redisbarrier_test

import (
	"testing"

	"github.com/redis/go-redis/v9"
	rueidisclient "github.com/redis/rueidis"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/redisconn"
	"github.com/bedrock-go/bedrock/redisconn/goredis"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/barrier"
)

// overCluster connects to a cluster by each library.
func overCluster(t *testing.T, set *testenv.ClusterSet) map[string]redisconn.Conn {
	t.Helper()
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: set.Addrs()})
	t.Cleanup(func() { client.Close() })
	return map[string]redisconn.Conn{
		"goredis": goredis.Wrap(client),
		"rueidis": overRueidis(t, rueidisclient.ClientOption{InitAddress: set.Addrs()}),
	}
}

// TestKeysOfSeveralSlotsEndTheProcess: which keys a script works on may follow from what
// somebody has sent. Nothing is done with keys that no one server has.
func TestKeysOfSeveralSlotsEndTheProcess(t *testing.T) {
	t.Parallel()
	for name, conn := range overCluster(t, testenv.Cluster(t, 3, 0)) {
		t.Run(name, func(t *testing.T) {
			b := over(t, conn, nil)
			for _, keys := range [][]string{{"{a}x", "{b}y"}, {"x", "y"}, {"{a}x", "{a}y", ""}} {
				_, v, err := b.Do(t.Context(), call(txn.NewID(), "action"), add, keys, 1, "")
				if v != barrier.Undecided || err == nil {
					t.Errorf("%q: %v, %v", keys, v, err)
				}
			}
			one := []string{"{a}x", "a"}
			if _, v, err := b.Do(t.Context(), call(txn.NewID(), "action"), add, one, 1, ""); v != barrier.Ran {
				t.Errorf("keys of one slot: %v, %v", v, err)
			}
		})
	}
}
