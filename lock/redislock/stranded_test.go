package redislock_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	goredisclient "github.com/redis/go-redis/v9"
	rueidisclient "github.com/redis/rueidis"

	"github.com/bedrock-go/bedrock/internal/chaos"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/locktest"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn"
	"github.com/bedrock-go/bedrock/redisconn/goredis"
	"github.com/bedrock-go/bedrock/redisconn/rueidis"
)

// pooled connects with a pool that is full of idle connections.
func pooled(t *testing.T, p *chaos.Proxy, size int) redisconn.Conn {
	t.Helper()
	return goredis.Wrap(fullPool(t, p, size))
}

func fullPool(t *testing.T, p *chaos.Proxy, size int) *goredisclient.Client {
	t.Helper()
	client := goredisclient.NewClient(&goredisclient.Options{Addr: p.Addr(), PoolSize: size})
	t.Cleanup(func() { _ = client.Close() })
	for client.PoolStats().IdleConns < uint32(size) {
		var users sync.WaitGroup
		for range size {
			users.Go(func() {
				if err := client.Do(ctxFor(t), "blpop", "nothing", "0.2").Err(); !errors.Is(err, goredisclient.Nil) {
					t.Error(err)
				}
			})
		}
		users.Wait()
	}
	return client
}

// pooledRueidis connects with some idle connections beside the one that is shared.
func pooledRueidis(t *testing.T, p *chaos.Proxy, size int) redisconn.Conn {
	t.Helper()
	client, err := rueidisclient.NewClient(rueidisclient.ClientOption{
		InitAddress: []string{p.Addr()}, ForceSingleClient: true,
		PipelineMultiplex: -1, // of four, chance would choose
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	for range size {
		d, release := client.Dedicate()
		if err := d.Do(ctxFor(t), d.B().Ping().Build()).Error(); err != nil {
			t.Fatal(err)
		}
		defer release()
	}
	return rueidis.Wrap(client)
}

// TestIdleConnectionsThatDiedLoseALease: a router has forgotten the connections of a
// pool, all at once and silently. New ones work, and must be used in time.
func TestIdleConnectionsThatDiedLoseALease(t *testing.T) {
	for name, pool := range map[string]func(t *testing.T, p *chaos.Proxy) redisconn.Conn{
		"goredis":         func(t *testing.T, p *chaos.Proxy) redisconn.Conn { return pooled(t, p, 20) },
		"rueidis":         func(t *testing.T, p *chaos.Proxy) redisconn.Conn { return pooledRueidis(t, p, 0) },
		"rueidis, pooled": func(t *testing.T, p *chaos.Proxy) redisconn.Conn { return pooledRueidis(t, p, 2) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proxy := proxyTo(t, testenv.Redis(t, nil))
			outliveConnections(t, proxy, pool(t, proxy))
		})
	}
}

// outliveConnections holds a lock whose every connection dies.
func outliveConnections(t *testing.T, proxy *chaos.Proxy, conn redisconn.Conn) {
	t.Helper()
	renewed := make(locktest.Renewals, 1)
	locks, err := redislock.New(conn, &redislock.Options{
		Lock: lock.Options{TTL: 12 * time.Second, Observer: renewed},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = locks.Stop(ctxFor(t)) })
	lease, err := locks.Mutex("a", nil).Lock(ctxFor(t))
	if err != nil {
		t.Fatal(err)
	}
	proxy.Strand()
	select {
	case <-renewed:
	case <-lease.Context().Done():
		t.Fatalf("lost: %v", context.Cause(lease.Context()))
	}
	if proxy.Evidence().BytesSwallowed == 0 {
		t.Error("no connection was dead")
	}
	if err := lease.Unlock(ctxFor(t)); err != nil {
		t.Error(err)
	}
}

// TestIdleConnectionsThatDiedOutlastPatience: the same, and somebody wants a lock. A client
// that needs as long to find out as patience lasts would be too late.
func TestIdleConnectionsThatDiedOutlastPatience(t *testing.T) {
	for name, pool := range map[string]func(t *testing.T, p *chaos.Proxy) redisconn.Conn{
		"goredis": func(t *testing.T, p *chaos.Proxy) redisconn.Conn { return pooled(t, p, 20) },
		"rueidis": func(t *testing.T, p *chaos.Proxy) redisconn.Conn { return pooledRueidis(t, p, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proxy := proxyTo(t, testenv.Redis(t, nil))
			locks, err := redislock.New(pool(t, proxy), nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = locks.Stop(ctxFor(t)) })
			proxy.Strand()
			takeAndRelease(t, locks, "a")
			if proxy.Evidence().BytesSwallowed == 0 {
				t.Error("no connection was dead")
			}
		})
	}
}

// TestNextCallIsGivenADoubtedConnection: all connections have died, and those that lie idle are
// about to be asked whether they live. A call that comes before they are is not given one.
func TestNextCallIsGivenADoubtedConnection(t *testing.T) {
	t.Parallel()
	proxy := proxyTo(t, testenv.Redis(t, nil))
	conn := pooled(t, proxy, 4)
	proxy.Strand()
	script := redisconn.NewScript("return 1")
	ctx, cancel := context.WithTimeout(ctxFor(t), 300*time.Millisecond)
	defer cancel()
	if _, err := conn.Eval(ctx, script, []string{"a"}, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("a dead connection: %v", err)
	}
	for range 2 {
		if _, err := conn.Eval(ctxFor(t), script, []string{"a"}, nil); err != nil {
			t.Errorf("the next call: %v", err)
		}
	}
}

// TestRequestThatWasNotSentIsTakenForSilence: who leaves before its request was sent tells nothing of the connection,
// and nobody asks over others.
func TestRequestThatWasNotSentIsTakenForSilence(t *testing.T) {
	t.Parallel()
	server := testenv.Redis(t, nil)
	b := open(t, connectRueidis(t, single(server)), nil)
	mustRelease(t, b, mustAcquire(t, b, request("a", uuidA+":1")))
	server.Do("CONFIG", "RESETSTAT")
	server.Do("CLIENT", "PAUSE", "500", "ALL")
	var served sync.WaitGroup
	for i := range 2 { // as many as are under way at once; they get their answers
		served.Go(func() { mustAcquire(t, b, request(fmt.Sprint("served ", i), uuidA+":2")) })
		<-time.After(20 * time.Millisecond)
	}
	ctx, cancel := context.WithTimeout(ctxFor(t), 300*time.Millisecond)
	defer cancel()
	if _, err := b.Acquire(ctx, request("left", uuidA+":3")); !errors.Is(err, driver.ErrUnavailable) {
		t.Errorf("who was not served: %v", err)
	}
	served.Wait()
	mustRelease(t, b, mustAcquire(t, b, request("a", uuidA+":4")))
	if stats := fmt.Sprint(server.Do("INFO", "commandstats")); strings.Contains(stats, "cmdstat_ping:") {
		t.Error("a connection was doubted")
	}
}

// TestServerThatIsAwayHoldsUpAnother of its cluster, when the time of a pipeline to both is over.
func TestServerThatIsAwayHoldsUpAnother(t *testing.T) {
	t.Parallel()
	away, well := proxyTo(t, testenv.Redis(t, nil)), proxyTo(t, testenv.Redis(t, nil))
	client := goredisclient.NewClusterClient(&goredisclient.ClusterOptions{
		ClusterSlots: func(context.Context) ([]goredisclient.ClusterSlot, error) {
			return []goredisclient.ClusterSlot{
				{Start: 0, End: 8191, Nodes: []goredisclient.ClusterNode{{Addr: away.Addr()}}},
				{Start: 8192, End: 16383, Nodes: []goredisclient.ClusterNode{{Addr: well.Addr()}}},
			}, nil
		},
	})
	t.Cleanup(func() { _ = client.Close() })
	conn, script := goredis.Wrap(client), redisconn.NewScript("return 1")
	for _, key := range []string{"a", "b"} { // slots 15495 and 3300
		if _, err := conn.Eval(ctxFor(t), script, []string{key}, nil); err != nil {
			t.Fatal(err)
		}
	}
	away.Cut()
	away.Heal()
	away.BlackHole(chaos.Both)
	ctx, cancel := context.WithTimeout(ctxFor(t), 300*time.Millisecond)
	defer cancel()
	conn.Pipeline(ctx, []redisconn.Call{{Script: script, Keys: []string{"a"}}, {Script: script, Keys: []string{"b"}}})
	short, end := context.WithTimeout(ctxFor(t), 500*time.Millisecond)
	defer end()
	if _, err := conn.Eval(short, script, []string{"a"}, nil); err != nil {
		t.Errorf("the server that is well: %v", err)
	}
}

// TestServerThatIsBackIsNotAskedAgain: it was silent, then dead, and is back with all
// its connections new. Whoever looked for one that answers meanwhile has found none,
// and must not go on looking for ever.
func TestServerThatIsBackIsNotAskedAgain(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, nil)
		b := open(t, connect(t, single(server)), nil)
		g := mustAcquire(t, b, request("a", uuidA+":1"))
		server.Freeze()
		ctx, cancel := context.WithTimeout(ctxFor(t), 400*time.Millisecond)
		defer cancel()
		if err := b.Renew(ctx, []driver.Grant{g})[0]; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("renewed: %v", err)
		}
		server.Kill()
		for end := time.Now().Add(3 * time.Second); time.Now().Before(end); {
			var tries sync.WaitGroup
			for _, owner := range []string{uuidA + ":3", uuidB + ":4"} {
				tries.Go(func() { tryFor(b, 100*time.Millisecond, owner) })
			}
			tries.Wait()
		}
		server.Restart(false)
		mustRelease(t, b, mustAcquire(t, b, request("c", uuidA+":5")))
	})
}

// tryFor asks for a lock for that long, and then releases what may have been granted.
func tryFor(b driver.Backend, d time.Duration, owner string) {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	if g, err := b.Acquire(ctx, request("b", owner)); err == nil {
		_, _ = b.Release(ctx, g)
	}
}
