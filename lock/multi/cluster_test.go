package multi_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/multi"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn/goredis"
)

// TestOppositeOrdersInAClusterWaitForEachOther: two clients lock {a, b} and {b, a}, 500 times each, on a cluster
// that keeps the two on different servers, so that they cannot be had in one step.
func TestOppositeOrdersInAClusterWaitForEachOther(t *testing.T) {
	set := testenv.Cluster(t, 3, 0)
	names := []string{"a", "b"}
	if set.NodeForSlot(set.KeySlot(names[0])) == set.NodeForSlot(set.KeySlot(names[1])) {
		t.Fatalf("%q are on one server", names)
	}
	var (
		group  sync.WaitGroup
		inside atomic.Int32
	)
	for i := range 2 {
		locks := inCluster(t, set)
		m := multi.New([]lock.Lockable{locks.Mutex(names[i], nil), locks.Mutex(names[1-i], nil)}, nil)
		group.Go(func() {
			for round := range 500 {
				lease, err := m.Lock(t.Context())
				if err != nil {
					t.Errorf("round %d: %v", round, err)
					return
				}
				if inside.Add(1) != 1 {
					t.Error("both have the locks")
				}
				inside.Add(-1)
				mustUnlock(t, lease)
			}
		})
	}
	group.Wait()
	for _, name := range names {
		if left := fmt.Sprint(set.NodeForSlot(set.KeySlot(name)).Do("EXISTS", name)); left != "0" {
			t.Errorf("%q is left behind", name)
		}
	}
}

// inCluster returns a client with connections of its own.
func inCluster(t *testing.T, set *testenv.ClusterSet) *lock.Client {
	t.Helper()
	rdb := redis.NewUniversalClient(&redis.UniversalOptions{Addrs: set.Addrs()})
	locks, err := redislock.New(goredis.Wrap(rdb), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := locks.Stop(context.Background()); err != nil {
			t.Log(err)
		}
		_ = rdb.Close()
	})
	return locks
}
