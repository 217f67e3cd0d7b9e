package redisstore_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	rueidisclient "github.com/redis/rueidis"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/redisconn"
	"github.com/bedrock-go/bedrock/redisconn/goredis"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/redisstore"
)

// cluster starts one whose nodes keep what they acknowledge.
func cluster(t testing.TB, masters, replicas int) (*testenv.ClusterSet, *redis.ClusterClient) {
	t.Helper()
	set := testenv.Cluster(t, masters, replicas)
	for _, node := range set.Nodes {
		node.Do("CONFIG", "SET", "appendonly", "yes")
	}
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: set.Addrs(), ReadTimeout: 2 * time.Second})
	t.Cleanup(func() { _ = client.Close() })
	return set, client
}

// TestReshardingLosesRecords moves every slot in use to another node while there
// are writers.
func TestReshardingLosesRecords(t *testing.T) {
	set, client := cluster(t, 3, 0)
	for name, conn := range map[string]redisconn.Conn{
		"goredis": goredis.Wrap(client),
		"rueidis": wrapRueidis(t, rueidisclient.ClientOption{InitAddress: set.Addrs()}),
	} {
		t.Run(name, func(t *testing.T) { testResharding(t, set, openOver(t, conn, &redisstore.Options{Prefix: name})) })
	}
}

func testResharding(t *testing.T, set *testenv.ClusterSet, s *redisstore.Store) {
	t.Helper()
	l := startLoad(t, s, 16)
	l.until(ctxFor(t), s, 200)
	moved := 0
	for shard := range driver.Shards {
		slot := set.KeySlot(fmt.Sprintf("bedrock:{%d}:queue", shard))
		from := set.NodeForSlot(slot)
		if from.Do("CLUSTER", "COUNTKEYSINSLOT", slot) == int64(0) {
			continue
		}
		to := set.Nodes[0]
		if to == from {
			to = set.Nodes[1]
		}
		set.MoveSlot(slot, from, to)
		moved++
	}
	l.until(ctxFor(t), s, 200)
	acknowledged, unknown, refused := l.end()
	t.Logf("%d slots moved; %d writes acknowledged, %d unknown, %d refused", moved, acknowledged, unknown, refused)
	if moved == 0 {
		t.Error("no slot was moved")
	}
}

// TestFrozenNodeStopsTheOthers: what other nodes have goes on meanwhile.
func TestFrozenNodeStopsTheOthers(t *testing.T) {
	set, client := cluster(t, 3, 0)
	for _, node := range set.Nodes {
		node.Do("CONFIG", "SET", "cluster-require-full-coverage", "no")
	}
	s := open(t, client, nil)
	frozen := set.Nodes[1]
	var there, elsewhere []*driver.Record
	for i := range 60 {
		rec := &driver.Record{ID: fmt.Sprint("r", i), Status: driver.Running, Due: time.Now().Add(-time.Hour)}
		if err := s.Create(ctxFor(t), rec); err != nil {
			t.Fatal(err)
		}
		slot := set.KeySlot(fmt.Sprintf("bedrock:{%d}:queue", driver.Shard(rec.ID)))
		if set.NodeForSlot(slot) == frozen {
			there = append(there, rec)
		} else {
			elsewhere = append(elsewhere, rec)
		}
	}
	frozen.Freeze()
	defer frozen.Thaw()
	update := func(rec *driver.Record, patience time.Duration) error {
		ctx, cancel := context.WithTimeout(ctxFor(t), patience)
		defer cancel()
		return s.Update(ctx, rec.Version(), rec.Clone())
	}
	for i := range 20 {
		if err := update(there[i%len(there)], 10*time.Millisecond); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a write to the frozen node: %v", err)
		}
		if err := update(elsewhere[i], time.Second); err != nil {
			t.Errorf("a write to another node: %v", err)
		}
	}
	claimed, err := s.Claim(ctxFor(t), driver.Claim{Owner: "replica-1", Lease: time.Hour, Limit: 100})
	if err != nil || len(claimed.Records) != len(elsewhere) {
		t.Errorf("claimed %d of %d records on other nodes, %v", len(claimed.Records), len(elsewhere), err)
	}
}

// TestFailOverStopsTheStore: with a new master it goes on.
func TestFailOverStopsTheStore(t *testing.T) {
	set := testenv.Sentinel(t, 1)
	set.Master().Do("CONFIG", "SET", "appendonly", "yes")
	client := redis.NewFailoverClient(&redis.FailoverOptions{MasterName: set.MasterName, SentinelAddrs: set.Addrs()})
	t.Cleanup(func() { _ = client.Close() })
	s := open(t, client, nil)
	create(t, s, "a")
	old := set.KillMaster()
	if _, err := set.WaitFailover(ctxFor(t), old); err != nil {
		t.Fatal(err)
	}
	ctx := ctxFor(t)
	err := s.Create(ctx, &driver.Record{ID: "b", Status: driver.Running})
	for err != nil && !errors.Is(err, driver.ErrExists) && ctx.Err() == nil {
		err = s.Create(ctx, &driver.Record{ID: "b", Status: driver.Running})
	}
	if err != nil && !errors.Is(err, driver.ErrExists) {
		t.Errorf("create after the fail-over: %v", err)
	}
}

// TestClusterOfOneIsRefused: a server that has never met another does not know its own
// host, and leaves it out of what it says about slots.
func TestClusterOfOneIsRefused(t *testing.T) {
	set := testenv.Cluster(t, 1, 0)
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: set.Addrs()})
	t.Cleanup(func() { _ = client.Close() })
	for name, conn := range map[string]redisconn.Conn{
		"goredis": goredis.Wrap(client),
		"rueidis": wrapRueidis(t, rueidisclient.ClientOption{InitAddress: set.Addrs()}),
	} {
		t.Run(name, func(t *testing.T) {
			s := openOver(t, conn, &redisstore.Options{Prefix: name, AllowVolatile: true})
			create(t, s, "a")
			if _, err := s.Load(ctxFor(t), "a"); err != nil {
				t.Error(err)
			}
			owner, err := conn.Owner(ctxFor(t), "a", true)
			if err != nil {
				t.Fatal(err)
			}
			l, err := conn.Listen(ctxFor(t), owner, deaf{})
			if err != nil {
				t.Fatalf("listen to %s: %v", owner, err)
			}
			l.Close()
		})
	}
}

// deaf hears nothing.
type deaf struct{}

func (deaf) Subscribed(string)   {}
func (deaf) Unsubscribed(string) {}
func (deaf) Message(_, _ string) {}
func (deaf) Broken(error)        {}
