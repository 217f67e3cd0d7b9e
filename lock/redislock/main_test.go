package redislock_test

import (
	"context"
	"crypto/tls"
	"os"
	"testing"
	"time"

	goredisclient "github.com/redis/go-redis/v9"
	rueidisclient "github.com/redis/rueidis"
	"go.uber.org/goleak"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn"
	"github.com/bedrock-go/bedrock/redisconn/goredis"
	"github.com/bedrock-go/bedrock/redisconn/rueidis"
)

func TestMain(m *testing.M) {
	if addr := os.Getenv(waiterVariable); addr != "" {
		os.Exit(waitInLine(addr))
	}
	goleak.VerifyTestMain(m,
		// rueidis closes connections to servers that have left a cluster 5 s late.
		goleak.IgnoreAnyFunction("github.com/redis/rueidis.(*clusterClient)._refresh.func2"),
		// It looks at a cluster anew up to a second after a connection has ended, its last ones too.
		goleak.IgnoreAnyFunction("github.com/redis/rueidis.(*call).DelayDo.func1"),
	)
}

// target says how to reach a server.
type target struct {
	addrs      []string
	database   int // of one server
	user, pass string
	tls        *tls.Config
	cluster    bool
	master     string // of Sentinel
	resp2      bool
	onePipe    bool // no connection is made later, which would wait for an answer of its own
}

// single is the target of one server.
func single(s *testenv.RedisServer) target {
	return target{addrs: []string{s.Addr()}, pass: s.Password(), tls: s.TLS()}
}

// library is a Redis client library.
type library struct {
	name    string
	connect func(t testing.TB, to target) redisconn.Conn
}

// libraries are those every test runs with.
func libraries() []library {
	return []library{{"goredis", connectGoredis}, {"rueidis", connectRueidis}}
}

func connectGoredis(t testing.TB, to target) redisconn.Conn {
	t.Helper()
	protocol := 3
	if to.resp2 {
		protocol = 2
	}
	client := goredisclient.NewUniversalClient(&goredisclient.UniversalOptions{
		Addrs: to.addrs, Username: to.user, Password: to.pass, TLSConfig: to.tls,
		MasterName: to.master, IsClusterMode: to.cluster, Protocol: protocol, DB: to.database,
	})
	t.Cleanup(func() { _ = client.Close() })
	return goredis.Wrap(client)
}

func connectRueidis(t testing.TB, to target) redisconn.Conn {
	t.Helper()
	multiplex := 0
	if to.onePipe {
		multiplex = -1
	}
	client, err := rueidisclient.NewClient(rueidisclient.ClientOption{
		InitAddress: to.addrs, Username: to.user, Password: to.pass, TLSConfig: to.tls,
		SelectDB:          to.database,
		ForceSingleClient: !to.cluster && to.master == "", AlwaysRESP2: to.resp2, DisableCache: to.resp2,
		Sentinel: rueidisclient.SentinelOption{MasterSet: to.master}, PipelineMultiplex: multiplex,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		connectAll(client)
		client.Close()
	})
	return rueidis.Wrap(client)
}

// connectAll makes a client of a cluster connect to its servers. After a connection is
// broken rueidis makes another by itself, up to a second later; if it is closed while it
// does, that one is never closed.
func connectAll(client rueidisclient.Client) {
	if client.Mode() != rueidisclient.ClientModeCluster {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	for _, node := range client.Nodes() {
		_ = node.Do(ctx, node.B().Ping().Build()).Error() // it may be gone
	}
}

// each runs a test with every library.
func each(t *testing.T, test func(t *testing.T, connect func(testing.TB, target) redisconn.Conn)) {
	t.Helper()
	for _, l := range libraries() {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			test(t, l.connect)
		})
	}
}

// open makes a backend that is closed with the test.
func open(t testing.TB, conn redisconn.Conn, opts *redislock.Options) driver.Backend {
	t.Helper()
	b, err := redislock.NewBackend(conn, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// ctxFor bounds a test, so that a call that hangs ends it.
func ctxFor(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

const (
	uuidA = "aaaaaaaa-0000-4000-8000-000000000001"
	uuidB = "bbbbbbbb-0000-4000-8000-000000000002"
	javas = "cccccccc-0000-4000-8000-000000000003:47"
)

// request asks for a usual lease.
func request(name, owner string) driver.Request {
	return driver.Request{Name: name, Owner: owner, TTL: 30 * time.Second, Tokens: 1}
}

// mustAcquire acquires what is free.
func mustAcquire(t testing.TB, b driver.Backend, req driver.Request) driver.Grant {
	t.Helper()
	g, err := b.Acquire(ctxFor(t), req)
	if err != nil {
		t.Fatalf("acquire %q for %s: %v", req.Name, req.Owner, err)
	}
	return g
}

// mustRelease releases what is held.
func mustRelease(t testing.TB, b driver.Backend, g driver.Grant) {
	t.Helper()
	if _, err := b.Release(ctxFor(t), g); err != nil {
		t.Fatalf("release %q of %s: %v", g.Name, g.Owner, err)
	}
}
