// Package redisbarrier is package barrier for participants whose data is in Redis:
// every call of a coordinator takes effect once, and in the right order.
//
//	b, err := redisbarrier.New(goredis.Wrap(rdb), nil) // alone, sentinel, cluster or ring; or rueidis.Wrap(client)
//
//	deduct := redisbarrier.NewScript(`
//		if tonumber(redis.call('GET', KEYS[1]) or 0) < tonumber(ARGV[1]) then
//			return redis.error_reply('REFUSED not enough in stock')
//		end
//		return redis.call('DECRBY', KEYS[1], ARGV[1])`)
//
//	co.Register("stock.deduct", b.Func(deduct, func(call txn.Call) ([]string, []any, error) {
//		var o Order
//		err := json.Unmarshal(call.Payload, &o)
//		return []string{"stock:" + o.Item}, []any{o.Count}, err
//	}))
//
// The work is a Lua script; the marks are asked and set in the same script, so nothing
// comes between them. They are one hash per transaction, next to the script's first
// key: "bedrock:barrier:{tag}:transaction". All calls of one branch must have first
// keys with the same hash tag.
//
// What Redis loses in a failover it loses of both, work and marks, as both are in one
// slot and replicated as one. Do not let it evict keys (maxmemory-policy noeviction
// or volatile-…): a mark that is gone lets a late call take effect a second time.
//
// Redis takes nothing back when a script fails half-way; see [NewScript] for what
// follows from that.
//
// # Permissions
//
// Beside what the work itself does, a user needs +@connection +@scripting +hget +hset and
// +time, with Options.TTL +pexpire, better also +command|info, and for Clean +scan +unlink,
// in a cluster also +cluster. Work whose mark could not be set is not run, by Redis 7 and
// later; older ones do not tell in time.
//
// # Cleaning
//
// Marks are kept until [Barrier.Clean] removes them, by the coordinator's word, or
// until Options.TTL.
package redisbarrier
