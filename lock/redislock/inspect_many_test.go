package redislock_test

import (
	"testing"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// TestManyPermitsLookFewer than they are: how many are taken, and of how many, is told of any number.
func TestManyPermitsLookFewer(t *testing.T) {
	s := testenv.Redis(t, nil)
	b := open(t, connectGoredis(t, single(s)), nil)
	const limit = 10_000
	holders := map[string]int{uuidA + ":1": 4096, uuidB + ":1": 3, uuidA + ":2": 2048, uuidB + ":2": 1}
	take := func(owner string, permits int) {
		t.Helper()
		req := request("a", owner)
		req.Mode, req.Permits, req.Limit = driver.Permit, permits, limit
		mustAcquire(t, b, req)
	}
	look := func(when string, all int) (permits map[string]int) {
		t.Helper()
		info, err := b.(driver.Inspector).Inspect(ctxFor(t), "a")
		if err != nil {
			t.Fatal(err)
		}
		sum, permits := 0, make(map[string]int, len(info.Holders))
		for _, h := range info.Holders {
			sum += h.Permits
			permits[h.Owner] += h.Permits
		}
		if sum != all || info.Limit != limit {
			t.Errorf("%s: %d of %d are taken, want %d of %d", when, sum, info.Limit, all, limit)
		}
		return permits
	}
	all := 0
	for owner, permits := range holders {
		take(owner, permits)
		all += permits
	}
	for owner, permits := range look("few have many", all) {
		if permits != holders[owner] {
			t.Errorf("%s has %d permits, want %d", owner, permits, holders[owner])
		}
	}
	const strangers = 2500
	s.Do("EVAL", `redis.call('decrby', 'a', ARGV[1])
		for i = 1, ARGV[1] do redis.call('zadd', '{a}:timeout', 900000000000000, string.format('%032d', i)) end`,
		0, strangers)
	permits := look("many have one", all+strangers)
	if others := permits[""]; others == 0 || others >= strangers {
		t.Errorf("%d permits are told without whose they are", others)
	}
}
