package redisbarrier_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	rueidisclient "github.com/redis/rueidis"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/redisconn/goredis"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/barrier"
	"github.com/bedrock-go/bedrock/txn/barrier/redisbarrier"
)

// coordinator knows some transactions.
type coordinator struct {
	txn.Inspector

	known map[string]*txn.Transaction
	fails bool
	asked atomic.Int64
}

func (c *coordinator) Get(_ context.Context, id string) (*txn.Transaction, error) {
	c.asked.Add(1)
	if c.fails {
		return nil, txn.ErrUnavailable
	}
	if t := c.known[id]; t != nil {
		return t, nil
	}
	return nil, txn.ErrNotFound
}

func newCoordinator() *coordinator {
	long, short := time.Now().Add(-30*time.Hour), time.Now().Add(-time.Hour)
	return &coordinator{known: map[string]*txn.Transaction{
		"old:running":   {Status: txn.Running},
		"old:parked":    {Status: txn.RollingBack, Parked: "help"},
		"old:committed": {Status: txn.Committed, Finished: long},
		"old:}:odd*":    {Status: txn.RolledBack, Finished: long},
		"old:just":      {Status: txn.Committed, Finished: short},
		"new:committed": {Status: txn.Committed, Finished: long},
	}}
}

// fill sets marks of all the coordinator's transactions and of one it does not
// know, each on a key of its own.
func (s *setup) fill(t *testing.T, c *coordinator) {
	t.Helper()
	ids := []string{"old:unknown"}
	for id := range c.known {
		ids = append(ids, id)
	}
	for i, id := range ids {
		key := fmt.Sprintf("stock:%d", i)
		s.do(t, call(id, "action"), add, key, barrier.Ran, "", 1, "")
		if strings.HasPrefix(id, "old:") {
			at := time.Now().Add(-25 * time.Hour).UnixMicro()
			s.rdb.HSet(t.Context(), fmt.Sprintf("bedrock:barrier:{%s}:%s", key, id), "at", at)
		}
	}
}

func (s *setup) clean(t *testing.T) {
	t.Helper()
	c := newCoordinator()
	s.fill(t, c)
	c.fails = true
	if n, err := s.b.Clean(t.Context(), c, nil); n != 0 || !errors.Is(err, txn.ErrUnavailable) {
		t.Errorf("without its coordinator: %d removed, %v", n, err)
	}
	c.fails = false
	if n, err := s.b.Clean(t.Context(), c, &barrier.CleanOptions{Batch: 2, Unknown: -1}); n != 2 || err != nil {
		t.Errorf("known: %d removed, %v; want 2", n, err)
	}
	if n, err := s.b.Clean(t.Context(), c, nil); n != 1 || err != nil {
		t.Errorf("unknown: %d removed, %v; want 1", n, err)
	}
	n, err := s.b.Clean(t.Context(), c, &barrier.CleanOptions{Age: 24})
	if wrong, ok := errors.AsType[*input.Error](err); !ok || wrong.Field != "age" || n != 0 {
		t.Errorf("of 24 ns: %d removed, %v", n, err)
	}
	if n, err := s.b.Clean(t.Context(), c, &barrier.CleanOptions{Age: -1}); n != 2 || err != nil {
		t.Errorf("of any age: %d removed, %v; want 2, running and parked stay", n, err)
	}
}

// several are connections to more than one server, each with a client to look with.
func several(t *testing.T) map[string]*setup {
	t.Helper()
	addrs := testenv.Cluster(t, 3, 0).Addrs()
	cluster := redis.NewClusterClient(&redis.ClusterOptions{Addrs: addrs})
	ring := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{
		"one": testenv.Redis(t, nil).Addr(), "two": testenv.Redis(t, nil).Addr(),
	}})
	t.Cleanup(func() { cluster.Close(); ring.Close() })
	return map[string]*setup{
		"cluster": {rdb: cluster, conn: goredis.Wrap(cluster)},
		"ring":    {rdb: ring, conn: goredis.Wrap(ring)},
		"cluster over rueidis": {
			rdb:  cluster,
			conn: overRueidis(t, rueidisclient.ClientOption{InitAddress: addrs}),
		},
	}
}

// empty takes everything off all servers: some of them share theirs.
func (s *setup) empty(t *testing.T) {
	t.Helper()
	servers, err := s.conn.Masters(t.Context())
	for i := 0; err == nil && i < len(servers); i++ {
		_, err = servers[i].Do(t.Context(), "FLUSHALL")
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestSeveralServers: marks are where the data is, and found for cleaning.
func TestSeveralServers(t *testing.T) {
	t.Parallel()
	for name, s := range several(t) {
		t.Run(name, func(t *testing.T) {
			s.empty(t)
			s.b = over(t, s.conn, &redisbarrier.Options{Prefix: name + ":"})
			for i := range 100 {
				key, id := fmt.Sprintf("%s stock:{%d}:x", name, i), fmt.Sprint(i)
				s.do(t, call(id, "action"), add, key, barrier.Ran, "r", 1, "r")
				s.do(t, call(id, "action"), add, key, barrier.Duplicate, "r", 1, "")
				s.do(t, call(id, "compensate"), add, strings.TrimSuffix(key, "x")+"other", barrier.Ran, "", -1, "")
			}
			n, err := s.b.Clean(t.Context(), newCoordinator(), &barrier.CleanOptions{Age: -1})
			if n != 100 || err != nil {
				t.Errorf("%d removed, %v; want 100", n, err)
			}
			s.b = over(t, s.conn, nil)
			s.clean(t)
		})
	}
}

func TestClean(t *testing.T) {
	t.Parallel()
	withEach(t, nil, testClean)
}

func testClean(t *testing.T, s *setup) {
	t.Helper()
	s.s.Do("SET", "bedrock:barrier:stranger", "1")
	s.s.Do("SET", "bedrock:barrier:{stranger", "1")
	s.clean(t)
	if n := s.s.Do("EXISTS", "bedrock:barrier:stranger", "bedrock:barrier:{stranger"); n != int64(2) {
		t.Errorf("%v strangers are left", n)
	}
}
