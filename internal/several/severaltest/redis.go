package severaltest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	goredisclient "github.com/redis/go-redis/v9"
	rueidisclient "github.com/redis/rueidis"

	"github.com/bedrock-go/bedrock/internal/chaos"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/locktest"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn"
	"github.com/bedrock-go/bedrock/redisconn/goredis"
	"github.com/bedrock-go/bedrock/redisconn/rueidis"
)

// Redis are nodes that are real servers. They keep their data over a restart, unless that says otherwise.
type Redis []*testenv.RedisServer

// StartRedis starts so many.
func StartRedis(t testing.TB, n int) Redis {
	t.Helper()
	servers := make(Redis, n)
	for i := range servers {
		servers[i] = testenv.Redis(t, &testenv.RedisOptions{Persistence: testenv.PersistLog})
	}
	return servers
}

// Library connects to a server by one of the libraries there are.
type Library func(t testing.TB, addr string) redisconn.Conn

// GoRedis is github.com/redis/go-redis.
func GoRedis(t testing.TB, addr string) redisconn.Conn {
	t.Helper()
	client := goredisclient.NewClient(&goredisclient.Options{Addr: addr})
	t.Cleanup(func() { _ = client.Close() })
	return goredis.Wrap(client)
}

// Rueidis is github.com/redis/rueidis.
func Rueidis(t testing.TB, addr string) redisconn.Conn {
	t.Helper()
	client, err := rueidisclient.NewClient(rueidisclient.ClientOption{
		InitAddress: []string{addr}, ForceSingleClient: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return rueidis.Wrap(client)
}

// Connect makes a backend of each server.
func (r Redis) Connect(t testing.TB, connect Library) []driver.Backend {
	t.Helper()
	backends := make([]driver.Backend, len(r))
	for i, s := range r {
		backends[i] = open(t, connect, s.Addr())
	}
	return backends
}

func open(t testing.TB, connect Library, addr string) driver.Backend {
	t.Helper()
	b, err := redislock.NewBackend(connect(t, addr), nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// InRedis opens so many servers, so many of which never answer: the first ones. Combine makes one backend of them.
func InRedis(
	nodes, mutes int, connect Library, combine func(t testing.TB, nodes []driver.Backend) driver.Backend,
) func(testing.TB) locktest.Server {
	return func(t testing.TB) locktest.Server {
		all := StartRedis(t, nodes)
		r := all[mutes:]
		all[:mutes].Freeze()
		return locktest.Server{
			Connect:    func(t testing.TB) driver.Backend { return combine(t, all.Connect(t, connect)) },
			Freeze:     r.Freeze,
			Thaw:       r.Thaw,
			Restart:    r.Restart,
			Disconnect: r.Disconnect,
			Residue:    r.Residue,
			Lag: func(t testing.TB) (driver.Backend, func(time.Duration)) {
				backends, hold := all.connectFar(t, connect)
				return combine(t, backends), hold
			},
			Nemeses: []locktest.Nemesis{
				{Name: "death of the first node", Strike: r[:1].crash},
				{Name: "frost at the last node", Strike: r[len(r)-1:].freezeForASecond},
			},
		}
	}
}

// connectFar makes a backend of each server over lines that hold up what passes.
func (r Redis) connectFar(t testing.TB, connect Library) (backends []driver.Backend, hold func(time.Duration)) {
	t.Helper()
	proxies := make([]*chaos.Proxy, len(r))
	for i, s := range r {
		p, err := chaos.New(s.Addr())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.Close() })
		proxies[i] = p
		backends = append(backends, open(t, connect, p.Addr()))
	}
	return backends, func(d time.Duration) {
		for _, p := range proxies {
			p.Delay(d)
		}
	}
}

// Freeze suspends all of them.
func (r Redis) Freeze() {
	for _, s := range r {
		s.Freeze()
	}
}

// Thaw ends that.
func (r Redis) Thaw() {
	for _, s := range r {
		s.Thaw()
	}
}

func (r Redis) freezeForASecond(ctx context.Context) error {
	r.Freeze()
	defer r.Thaw()
	select {
	case <-time.After(time.Second):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// crash ends all of them at once, and starts them again.
func (r Redis) crash(context.Context) error {
	for _, s := range r {
		s.Kill()
	}
	for _, s := range r {
		s.Restart(true)
	}
	return nil
}

// Restart stops all of them before it starts them again: what one has forgotten is asked of
// it once more with the next renewal, for as long as others know of it.
func (r Redis) Restart(keepData bool) {
	for _, s := range r {
		s.Stop()
	}
	for _, s := range r {
		s.Restart(keepData)
	}
}

// Disconnect breaks every connection.
func (r Redis) Disconnect() {
	for _, s := range r {
		s.Do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
		s.Do("CLIENT", "KILL", "TYPE", "pubsub")
	}
}

// Residue lists the keys that are left, but for what is remembered for a while, and ends by itself.
func (r Redis) Residue() (left []string) {
	for i, s := range r {
		keys, _ := s.Do("KEYS", "*").([]any)
		for _, key := range keys {
			name := fmt.Sprint(key)
			if !strings.Contains(name, "_token:") && !strings.Contains(name, "_unlock_latch:") {
				left = append(left, fmt.Sprintf("node %d: %s", i+1, name))
			}
		}
	}
	return left
}
