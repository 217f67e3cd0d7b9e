package redisstore_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/txn/redisstore"
)

func TestMain(m *testing.M) {
	// go-redis notices up to a second late that a client is closed whose server
	// was down.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"))
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
	s, err := redisstore.New(ctxFor(t), client, opts)
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
