package redislock_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn"
)

// TestCounterRunsAheadOfTheClock: whatever was given out, and however large the blocks
// that hand-off asks for, a counter that is lost must not begin below it.
func TestCounterRunsAheadOfTheClock(t *testing.T) {
	for _, profile := range []redislock.Profile{redislock.Redisson, redislock.Redlock} {
		t.Run(fmt.Sprint(profile), func(t *testing.T) {
			each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
				server := testenv.Redis(t, nil)
				b := open(t, connect(t, single(server)), &redislock.Options{Profile: profile})
				var given uint64
				for i := range 100 {
					req := request("hot", fmt.Sprint(uuidA, ":", i))
					req.Tokens = 1 + i%2*65535
					if i == 99 {
						server.Do("FLUSHALL")
					}
					g := mustAcquire(t, b, req)
					if g.Token <= given || g.Tokens < 1 || g.Tokens > req.Tokens {
						t.Fatalf("grant %d: tokens from %d, %d of %d; %d was given out before", i, g.Token, g.Tokens,
							req.Tokens, given)
					}
					given = g.Token + uint64(g.Tokens) - 1
					if _, err := b.Release(ctxFor(t), g); err != nil {
						t.Fatal(err)
					}
				}
			})
		})
	}
}

// TestForEverIsAMillisecond: the longest time there is runs over when it is rounded up.
func TestForEverIsAMillisecond(t *testing.T) {
	server := testenv.Redis(t, nil)
	b := open(t, connectGoredis(t, single(server)), &redislock.Options{TokenTTL: math.MaxInt64})
	mustAcquire(t, b, request("a", uuidA+":1"))
	if left, ok := server.Do("PTTL", "redisson_lock_token:{a}").(int64); !ok || left < (24*time.Hour).Milliseconds() {
		t.Errorf("the counter is kept for %d ms", left)
	}
}
