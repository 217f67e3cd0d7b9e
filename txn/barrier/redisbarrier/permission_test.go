package redisbarrier_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/redisconn/goredis"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/barrier"
	"github.com/bedrock-go/bedrock/txn/barrier/redisbarrier"
)

// TestWorkRunsThoughItsMarkCannotBeSet: Redis takes nothing back, and without a mark the
// work would run again with every call.
func TestWorkRunsThoughItsMarkCannotBeSet(t *testing.T) {
	t.Parallel()
	users := map[string]string{
		"who may not set":     "-hset",
		"who may not age":     "-pexpire",
		"who has no clock":    "-time",
		"who may only look":   "resetkeys %R~* ~k",
		"who may do anything": "+@all",
	}
	for name, rights := range users {
		t.Run(name, func(t *testing.T) {
			s := start(t, &testenv.RedisOptions{Users: []string{"alice on nopass ~* &* +@all " + rights}})
			client := redis.NewClient(&redis.Options{Addr: s.s.Addr(), Username: "alice", Password: "any"})
			t.Cleanup(func() { client.Close() })
			b := over(t, goredis.Wrap(client), &redisbarrier.Options{TTL: time.Hour})
			want, v := "", barrier.Undecided
			if rights == "+@all" {
				want, v = "1", barrier.Ran
			}
			_, got, err := b.Do(t.Context(), call(txn.NewID(), "action"), add, []string{"k"}, 1, "")
			if got != v || (err != nil) != (v == barrier.Undecided) {
				t.Errorf("%v, %v; want %v", got, err, v)
			}
			s.want(t, "k", want)
		})
	}
}
