package redisstore_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	rueidisclient "github.com/redis/rueidis"
	"go.uber.org/goleak"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/redisconn"
	"github.com/bedrock-go/bedrock/redisconn/goredis"
	"github.com/bedrock-go/bedrock/redisconn/rueidis"
	"github.com/bedrock-go/bedrock/txn/redisstore"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// go-redis notices up to a second late that a client is closed whose server was down.
		goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"),
		// rueidis closes connections to servers that have left a cluster 5 s late.
		goleak.IgnoreAnyFunction("github.com/redis/rueidis.(*clusterClient)._refresh.func2"),
		// It looks at a cluster anew up to a second after a connection has ended, its last ones too.
		goleak.IgnoreAnyFunction("github.com/redis/rueidis.(*call).DelayDo.func1"),
	)
}

// ctxFor bounds a test, so that a call that hangs ends it.
func ctxFor(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// durable starts a server on which every acknowledged write is on disk.
func durable(t testing.TB, args ...string) *testenv.RedisServer {
	t.Helper()
	return testenv.Redis(t, &testenv.RedisOptions{Persistence: testenv.PersistAOF, Args: args})
}

// connect makes a client of one server.
func connect(t testing.TB, server *testenv.RedisServer) *redis.Client {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: server.Addr(), ReadTimeout: 2 * time.Second, DialerRetries: 1})
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// open makes a store that is closed with the test.
func open(t testing.TB, client redis.UniversalClient, opts *redisstore.Options) *redisstore.Store {
	t.Helper()
	return openOver(t, goredis.Wrap(client), opts)
}

// connectRueidis makes a connection over the other library.
func connectRueidis(t testing.TB, addrs ...string) redisconn.Conn {
	t.Helper()
	return wrapRueidis(t, rueidisclient.ClientOption{InitAddress: addrs, ForceSingleClient: len(addrs) == 1})
}

// wrapRueidis makes one with these options, which by themselves find out what is there.
func wrapRueidis(t testing.TB, opts rueidisclient.ClientOption) redisconn.Conn {
	t.Helper()
	client, err := rueidisclient.NewClient(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return rueidis.Wrap(client)
}

// overEach runs a test over both libraries, each with a server and a store of its own.
func overEach(t *testing.T, test func(t *testing.T, server *testenv.RedisServer, s *redisstore.Store)) {
	t.Helper()
	t.Run("goredis", func(t *testing.T) {
		server := durable(t)
		test(t, server, open(t, connect(t, server), nil))
	})
	t.Run("rueidis", func(t *testing.T) {
		server := durable(t)
		test(t, server, openOver(t, connectRueidis(t, server.Addr()), nil))
	})
}

// openOver does the same over any client.
func openOver(t testing.TB, conn redisconn.Conn, opts *redisstore.Options) *redisstore.Store {
	t.Helper()
	s, err := redisstore.New(ctxFor(t), conn, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// ownPrefix is a prefix that no other test uses on a shared server.
func ownPrefix(t testing.TB) *redisstore.Options {
	return &redisstore.Options{Prefix: fmt.Sprintf("%s:", t.Name())}
}
