package redisnode_test

import (
	"context"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/internal/redisnode"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/redisconn"
	"github.com/bedrock-go/bedrock/redisconn/goredis"
)

func nodeOf(t *testing.T, server *testenv.RedisServer) redisconn.Node {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
	t.Cleanup(func() { _ = client.Close() })
	masters, err := goredis.Wrap(client).Masters(t.Context())
	if err != nil || len(masters) != 1 {
		t.Fatalf("%d masters, %v", len(masters), err)
	}
	return masters[0]
}

// TestPrefixIsTakenForAPattern: whatever it is made of, it means itself.
func TestPrefixIsTakenForAPattern(t *testing.T) {
	server := testenv.Redis(t, nil)
	n := nodeOf(t, server)
	for _, prefix := range []string{"", "a*", "a?", "[ab]", "[^a]", "[a-b]", `\`, `a\*`, "]", "!", "^", "-", "{a}"} {
		server.Do("FLUSHALL")
		server.Do("SET", prefix+"1", "text")
		server.Do("HSET", prefix+"2", "field", "value")
		if prefix != "" {
			server.Do("SET", "a1", "text")
			server.Do("SET", "b1", "text")
		}
		for kind, want := range map[string][]string{"": {prefix + "1", prefix + "2"}, "hash": {prefix + "2"}} {
			var got []string
			for key, err := range (redisnode.Scan{Prefix: prefix, Type: kind, Batch: 1}).Keys(t.Context(), n) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, key)
			}
			slices.Sort(got)
			if got = slices.Compact(got); !slices.Equal(got, want) {
				t.Errorf("%q of type %q: %q", prefix, kind, got)
			}
		}
	}
}

// TestFailedScanLooksWhole: whoever goes through the keys hears that some are missing.
func TestFailedScanLooksWhole(t *testing.T) {
	server := testenv.Redis(t, nil)
	n := nodeOf(t, server)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var failed error
	for _, err := range (redisnode.Scan{Batch: 1}).Keys(ctx, n) {
		failed = err
	}
	if failed == nil {
		t.Error("no error")
	}
}
