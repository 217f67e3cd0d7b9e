package redislock_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
)

// looks is how Redisson asks for a lock.
const looks = `if redis.call('exists', KEYS[1]) == 0 or redis.call('hexists', KEYS[1], ARGV[1]) == 1 then
  redis.call('hincrby', KEYS[1], ARGV[1], 1)
  redis.call('pexpire', KEYS[1], 500)
  return 1
end
return 0`

// TestLookerIsKeptOut: two pass a lock to and fro, and a third one, of another library, looks now and then whether
// it is free, as Redisson's spin lock does at its slowest. It tells nobody of its release, nor that it waits.
func TestLookerIsKeptOut(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds of real time")
	}
	server := testenv.Redis(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	var near sync.WaitGroup
	defer near.Wait()
	defer cancel()
	for range 2 {
		locks := warmClient(t, connectGoredis(t, single(server)), 30*time.Second)
		near.Go(func() { haveUntil(ctx, t, locks.Mutex("a", nil)) })
	}
	tick := time.NewTicker(128 * time.Millisecond)
	defer tick.Stop()
	for range 5 {
		vain := 0
		for <-tick.C; server.Do("EVAL", looks, 1, "a", javas) == int64(0); <-tick.C {
			if vain++; vain > 24 { // two leads are 2 s apart at most
				t.Fatal("it was held whenever it looked")
			}
		}
		t.Logf("%d looks in vain", vain)
		server.Do("DEL", "a")
	}
}
