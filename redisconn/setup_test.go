package redisconn_test

import (
	"net"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	rueidisclient "github.com/redis/rueidis"

	"github.com/bedrock-go/bedrock/internal/chaos"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/redisconn"
	"github.com/bedrock-go/bedrock/redisconn/goredis"
	"github.com/bedrock-go/bedrock/redisconn/rueidis"
)

// push tells whoever pops from its key that it has run.
var push = redisconn.NewScript(`return redis.call('LPUSH', KEYS[1], 'it has happened')`)

// pushed are calls that go together.
func pushed() []redisconn.Call {
	return []redisconn.Call{{Script: push, Keys: []string{"k"}}, {Command: "llen", Keys: []string{"k"}}}
}

// connector makes a connection, and what closes its client.
type connector func(t *testing.T, addr string) (conn redisconn.Conn, closeClient func())

// connectors are for tests in which answers are lost: what they send goes over a connection
// that is there, and waits for no answer but its own.
func connectors() map[string]connector {
	return map[string]connector{
		"goredis":                    overGoredis(redis.Options{}),
		"goredis, heeding deadlines": overGoredis(redis.Options{ContextTimeoutEnabled: true}),
		"rueidis": func(t *testing.T, addr string) (redisconn.Conn, func()) {
			client, err := rueidisclient.NewClient(rueidisclient.ClientOption{
				InitAddress: []string{addr}, ForceSingleClient: true,
				PipelineMultiplex: -1, // no connection is made later
				// It asks that often whether the server is there, and sends nothing before it was told.
				Dialer: net.Dialer{KeepAlive: time.Hour},
			})
			if err != nil {
				t.Fatal(err)
			}
			return rueidis.Wrap(client), client.Close
		},
	}
}

func overGoredis(opts redis.Options) connector {
	return func(_ *testing.T, addr string) (redisconn.Conn, func()) {
		opts.Addr = addr
		client := redis.NewClient(&opts)
		return goredis.Wrap(client), func() { _ = client.Close() }
	}
}

// behindProxy starts a server and connects through a proxy; connections and scripts are there.
func behindProxy(t *testing.T, connect connector) (*testenv.RedisServer, *chaos.Proxy, redisconn.Conn, func()) {
	t.Helper()
	server := testenv.Redis(t, nil)
	proxy, err := chaos.New(server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = proxy.Close() })
	conn, closeClient := connect(t, proxy.Addr())
	t.Cleanup(closeClient)
	if _, err := conn.Eval(t.Context(), push, []string{"k"}, nil); err != nil {
		t.Fatal(err)
	}
	for _, result := range conn.Pipeline(t.Context(), pushed()) { // may have a pool of its own
		if result.Err != nil {
			t.Fatal(result.Err)
		}
	}
	server.Do("DEL", "k")
	return server, proxy, conn, closeClient
}
