package redislock_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/conformance"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/locktest"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn"
)

func TestConformanceStandalone(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		locktest.Run(t, locktest.Backend{Open: standalone(connect, nil), Exempt: conformance.Redis().Exempt})
	})
}

// standalone starts a server that keeps its data over a restart. It does not wait for
// the disk, which may be busy for seconds with what others do.
func standalone(
	connect func(testing.TB, target) redisconn.Conn, opts *redislock.Options,
) func(testing.TB) locktest.Server {
	return func(t testing.TB) locktest.Server {
		server := testenv.Redis(t, &testenv.RedisOptions{Persistence: testenv.PersistLog})
		return locktest.Server{
			Connect:    connector(connect, single(server), opts),
			Freeze:     server.Freeze,
			Thaw:       server.Thaw,
			Restart:    server.Restart,
			Disconnect: func() { disconnect(server) },
			Residue:    func() []string { return lasting(server) },
			Lag:        lagging(connect, server, opts),
		}
	}
}

func connector(
	connect func(testing.TB, target) redisconn.Conn, to target, opts *redislock.Options,
) func(testing.TB) driver.Backend {
	return func(t testing.TB) driver.Backend {
		b, err := redislock.NewBackend(connect(t, to), opts)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
}

// lagging connects through a proxy that holds up what passes.
func lagging(
	connect func(testing.TB, target) redisconn.Conn, server *testenv.RedisServer, opts *redislock.Options,
) func(testing.TB) (driver.Backend, func(time.Duration)) {
	return func(t testing.TB) (driver.Backend, func(time.Duration)) {
		proxy := proxyTo(t, server)
		return connector(connect, target{addrs: []string{proxy.Addr()}}, opts)(t), proxy.Delay
	}
}

// disconnect breaks every connection but the one it is asked over.
func disconnect(servers ...*testenv.RedisServer) {
	for _, s := range servers {
		s.Do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
		s.Do("CLIENT", "KILL", "TYPE", "pubsub")
	}
}

// residue lists the keys that are neither remembered tokens nor latches, which
// end by themselves.
func residue(servers ...*testenv.RedisServer) []string {
	var left []string
	for _, s := range servers {
		keys, _ := s.Do("KEYS", "*").([]any)
		for _, key := range keys {
			name := fmt.Sprint(key)
			switch {
			case strings.Contains(name, "_token:"), strings.Contains(name, "_unlock_latch:"),
				strings.HasPrefix(name, "bedrock_latch:call:"), isRemembered(s, name):
			default:
				left = append(left, name)
			}
		}
	}
	return left
}

// lasting lists the residue that does not end by itself: where a lease has run out, the claim
// of who waited for it does so a few seconds later.
func lasting(servers ...*testenv.RedisServer) []string {
	ends := func(key string) bool {
		return slices.ContainsFunc(servers, func(s *testenv.RedisServer) bool {
			left, _ := s.Do("PTTL", key).(int64)
			return left > 0
		})
	}
	return slices.DeleteFunc(residue(servers...), func(key string) bool {
		return strings.HasPrefix(key, "bedrock_heir:") && ends(key)
	})
}

// isRemembered reports whether a key is that of a semaphore which nobody has permits of, or what is kept beside it.
func isRemembered(s *testenv.RedisServer, key string) bool {
	const beside = "bedrock_holders:"
	holders := beside + "{" + key + "}"
	switch {
	case strings.HasPrefix(key, beside):
		holders = key
	case strings.Contains(key, "{"):
		holders = beside + key + ":tagged"
	}
	fields, _ := s.Do("HKEYS", holders).([]any)
	return len(fields) == 1 && slices.Contains([]any{"bedrock:limit", "bedrock:plain"}, fields[0]) &&
		s.Do("PTTL", key) != int64(-1)
}

func TestConformanceSentinel(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		set := testenv.Sentinel(t, 1)
		to := target{addrs: set.Addrs(), master: set.MasterName}
		locktest.Run(t, locktest.Backend{
			Shared: true,
			Open: func(testing.TB) locktest.Server {
				return locktest.Server{
					Connect:    connector(connect, to, nil),
					Disconnect: func() { disconnect(set.Master()) },
					Nemeses:    []locktest.Nemesis{{Name: "fail-over", Strike: failOver(set), Forgets: true}},
				}
			},
			Exempt: conformance.Sentinel().Exempt,
		})
	})
}

// failOver kills the master and waits for its replica to take over.
func failOver(set *testenv.SentinelSet) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := set.WaitFailover(ctx, set.KillMaster())
		return err
	}
}

func TestConformanceCluster(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		conformsInCluster(t, connect, nil)
	})
}

func conformsInCluster(
	t *testing.T, connect func(testing.TB, target) redisconn.Conn, opts *redislock.Options,
) {
	t.Helper()
	set := testenv.Cluster(t, 3, 0)
	to := target{addrs: set.Addrs(), cluster: true}
	locktest.Run(t, locktest.Backend{
		Shared: true,
		Open: func(testing.TB) locktest.Server {
			return locktest.Server{
				Connect:    connector(connect, to, opts),
				Disconnect: func() { disconnect(set.Nodes...) },
				Residue:    nil,
				Nemeses: []locktest.Nemesis{{
					Name: "resharding", Strike: func(context.Context) error { reshard(set); return nil },
				}},
			}
		},
		Exempt: conformance.Cluster().Exempt,
	})
}

// reshard moves every slot in which there is a lock to the next node.
func reshard(set *testenv.ClusterSet) {
	for i, from := range set.Nodes {
		to := set.Nodes[(i+1)%len(set.Nodes)]
		keys, _ := from.Do("KEYS", "*").([]any)
		moved := make(map[int]bool)
		for _, key := range keys {
			slot := set.KeySlot(fmt.Sprint(key))
			if !moved[slot] && set.NodeForSlot(slot) == from {
				moved[slot] = true
				set.MoveSlot(slot, from, to)
			}
		}
	}
}
