package redisconn_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	rueidisclient "github.com/redis/rueidis"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/redisconn"
	"github.com/bedrock-go/bedrock/redisconn/goredis"
	"github.com/bedrock-go/bedrock/redisconn/rueidis"
)

// TestCallWithoutKeysEndsTheProgram: there is no key to tell whose connections are in doubt
// when the server is silent.
func TestCallWithoutKeysEndsTheProgram(t *testing.T) {
	server := testenv.Redis(t, nil)
	conns := bothConns(t, server)
	clock := redisconn.NewScript(`return redis.call('TIME')`)
	server.Freeze()
	defer server.Thaw()
	for name, conn := range conns {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		_, err := conn.Eval(ctx, clock, nil, nil)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		}
		ctx, cancel = context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		for _, got := range conn.Pipeline(ctx, []redisconn.Call{{Command: "time"}, {Script: clock}}) {
			if !errors.Is(got.Err, context.DeadlineExceeded) {
				t.Errorf("%s: %v", name, got.Err)
			}
		}
		ctx, cancel = context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		_, _, err = conn.EvalWait(ctx, redisconn.Call{Script: clock}, 0, time.Millisecond)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestKeysOfSeveralSlotsEndTheProgram: they are nothing that one server could have, and only
// the call that names them is refused.
func TestKeysOfSeveralSlotsEndTheProgram(t *testing.T) {
	set := testenv.Cluster(t, 3, 0)
	two := redisconn.Call{Script: push, Keys: []string{"{a}k", "{b}k"}}
	for name, conn := range overCluster(t, set) {
		if _, _, err := conn.EvalWait(t.Context(), two, 0, time.Millisecond); err == nil {
			t.Errorf("%s: EvalWait did something", name)
		}
		one := redisconn.Call{Script: push, Keys: []string{"{a}k", "a"}}
		for i, got := range conn.Pipeline(t.Context(), []redisconn.Call{two, one, two, one}) {
			if fine := i%2 == 1; (got.Err == nil) != fine {
				t.Errorf("%s: call %d: %v", name, i, got.Err)
			}
		}
	}
}

func overCluster(t *testing.T, set *testenv.ClusterSet) map[string]redisconn.Conn {
	t.Helper()
	one := redis.NewClusterClient(&redis.ClusterOptions{Addrs: set.Addrs()})
	t.Cleanup(func() { _ = one.Close() })
	other, err := rueidisclient.NewClient(rueidisclient.ClientOption{InitAddress: set.Addrs()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(other.Close)
	return map[string]redisconn.Conn{"goredis": goredis.Wrap(one), "rueidis": rueidis.Wrap(other)}
}
