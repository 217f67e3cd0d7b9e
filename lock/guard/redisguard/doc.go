// Package redisguard guards data in Redis from holders that have lost their lock: the check and the write are one
// script. See package guard for what that means.
//
//	g, err := redisguard.New(goredis.Wrap(rdb), nil) // where the data is
//
//	err = g.Announce(ctx, guard.Of(lease)) // before the first read
//
//	err = g.Set(ctx, guard.Of(lease), "price:{orders/42}", "100")
//
// # Scripts of your own
//
// [NewScript] puts the check in front of any script; [Guard.Run] runs it:
//
//	g, err := redisguard.New(conn, nil)
//	add := redisguard.NewScript(`return redis.call('RPUSH', KEYS[1], ARGV[1])`)
//	reply, err := g.Run(ctx, guard.Of(lease), add, []string{"log:{orders/42}"}, "paid")
//
// # Where tokens are kept
//
// The newest token of orders/42 is a decimal number at the key bedrock:guard:{orders/42}. In a cluster
// it is in the slot of the lock's name, and the data has to be there, too: give its keys the same hash tag,
// as in price:{orders/42}. A name that has a hash tag of its own is kept at bedrock:guard: followed by a colon and the
// name, in the slot of that tag.
//
// Tokens are kept for ever unless [Options.TTL] says otherwise. Of several guards over one key, such as those of two
// releases, the one that keeps tokens for longest has its way. They are as durable as the data beside them. A server
// that evicts keys may evict them: set maxmemory-policy to noeviction, or to one of the volatile ones. A fail-over
// that loses the latest writes loses tokens, too; then an older holder may be let in, as long as the newer one does
// not write.
//
// # Permissions
//
// A user needs EVALSHA, EVAL, GET, PTTL and SET on these keys, besides what the scripts do.
package redisguard
