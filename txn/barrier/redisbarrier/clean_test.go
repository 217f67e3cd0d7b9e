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

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/barrier"
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
	if n, err := s.b.Clean(t.Context(), c, &barrier.CleanOptions{Age: -1}); n != 2 || err != nil {
		t.Errorf("of any age: %d removed, %v; want 2, running and parked stay", n, err)
	}
}

// several are clients of more than one server.
func several(t *testing.T) map[string]redis.UniversalClient {
	t.Helper()
	cluster := redis.NewClusterClient(&redis.ClusterOptions{Addrs: testenv.Cluster(t, 3, 0).Addrs()})
	ring := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{
		"one": testenv.Redis(t, nil).Addr(), "two": testenv.Redis(t, nil).Addr(),
	}})
	t.Cleanup(func() { cluster.Close(); ring.Close() })
	return map[string]redis.UniversalClient{"cluster": cluster, "ring": ring}
}

// TestSeveralServers: marks are where the data is, and found for cleaning.
func TestSeveralServers(t *testing.T) {
	t.Parallel()
	for name, rdb := range several(t) {
		t.Run(name, func(t *testing.T) {
			s := &setup{rdb: rdb, b: over(t, rdb, nil)}
			for i := range 100 {
				key, id := fmt.Sprintf("stock:{%d}:x", i), fmt.Sprint(i)
				s.do(t, call(id, "action"), add, key, barrier.Ran, "r", 1, "r")
				s.do(t, call(id, "action"), add, key, barrier.Duplicate, "r", 1, "")
				s.do(t, call(id, "compensate"), add, strings.TrimSuffix(key, "x")+"other", barrier.Ran, "", -1, "")
			}
			if n, err := s.b.Clean(t.Context(), newCoordinator(), &barrier.CleanOptions{Age: -1}); n != 100 || err != nil {
				t.Errorf("%d removed, %v; want 100", n, err)
			}
			s.clean(t)
		})
	}
}

func TestClean(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.s.Do("SET", "bedrock:barrier:stranger", "1")
	s.s.Do("SET", "bedrock:barrier:{stranger", "1")
	s.clean(t)
	if n := s.s.Do("EXISTS", "bedrock:barrier:stranger", "bedrock:barrier:{stranger"); n != int64(2) {
		t.Errorf("%v strangers are left", n)
	}
}
