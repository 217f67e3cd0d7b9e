// Package redislock keeps locks on Redis or Valkey, alone, under Sentinel or in
// a cluster.
//
// It shares its locks with the services beside it: with Java's Redisson by
// default, with redsync and other SET NX clients by [Redlock]. The key in Redis
// is the lock's name.
//
// It uses the Redis client the program has: package goredis wraps go-redis,
// package rueidis wraps rueidis. Neither is imported here.
//
//	locks, err := redislock.New(goredis.Wrap(rdb), nil)
//	if err != nil {
//		return err
//	}
//	lease, err := locks.Mutex("orders/42", nil).Lock(ctx)
//
// # What Redis can promise
//
// One grant at a time while the server keeps its data and its clock runs
// evenly. Not across data loss: eviction, a restart without persistence, a
// fail-over to a replica that lacks the grant. For these there is the fencing
// token, which rises from grant to grant over every one of them as long as the
// server's clock is not set back, and stays that of its grant where a process
// passes one on within it; Client.Check, which finds the settings behind them;
// and [Options.Acks].
//
// # Permissions
//
// A user needs, for locks named orders/*:
//
//	~orders/* ~redisson_lock_token:* ~redisson_unlock_latch:*
//	~redisson_lock__channel:* &redisson_lock__channel:*
//	~bedrock_heir:* &bedrock_client:*
//	+@connection +@scripting +exists +hset +hget +hmget +hlen +hkeys +hgetall
//	+pexpire +pttl +type +set +psetex +get +del +rename +time +publish +spublish
//	+subscribe +unsubscribe +ssubscribe +sunsubscribe +pubsub +wait +info +scan +cluster
//
// For read-write locks and semaphores, and to inspect or free any lock by force, it needs besides:
//
//	~{orders/*}:* ~bedrock_holders:* ~bedrock_writer:* ~bedrock_upgrade:* ~bedrock_readers:*
//	~bedrock_turn:* ~redisson_rwlock:* &redisson_rwlock:* ~redisson_sc:* &redisson_sc:*
//	+hdel +hexists +hrandfield +incrby +decrby +zadd +zrem +zscore +zcard +zcount +zrange +zremrangebyscore
//
// If semaphores are kept as [RSemaphore] it needs besides, to what is listed up to here:
//
//	~bedrock_permits:*
//
// For latches it needs besides, to what is listed up to here:
//
//	~bedrock_latch:* &redisson_countdownlatch__channel__* &bedrock_latch:*
//
// For fair locks it needs besides:
//
//	~redisson_lock_queue:* ~redisson_lock_timeout:* ~bedrock_line:*
//	+hdel +hsetnx +hrandfield +zadd +zrem +zscore +zincrby +llen +lrange +lindex +lpos +lrem +rpush +linsert
//
// Where several servers make up one lock, each is asked for how long it has kept everything: it tells by +lastsave, or
// by +info, which takes a little longer. With only the first it may seem younger than it is, where it saves its data.
//
// Without bedrock_heir, bedrock_client, hmget or rename everything works, but no lock is
// passed on by the server: who releases it wakes those who wait, and they ask. Without bedrock_client
// no lock lingers either, who loses one by force hears of it at its next renewal, and nobody can ask holders or be
// asked; Client.Check tells.
//
// # Asking who has a lock
//
// lock.Client.Ask tells all holders that are clients of Bedrock, in one round trip, by the channel of each client;
// older versions pass over what they do not know. It counts those who listen at this moment. A server of a cluster
// knows of those alone who listen at itself, so there it counts who has the lock by Bedrock, whether it listens or
// not. Of a name that more than 2000 have at once, 2000 of them are told, whichever the server picks; of a forced
// release, too, of which the others hear at their next renewal.
//
// lock.Client.Inspect tells of 1000 readers, of 1000 who wait in line, and of 2000 who have permits; those who have the
// rest of the permits are one holder without a name.
//
// With the profile Redlock the keys beside a lock are ~bedrock_token:*
// ~bedrock_unlock_latch:* ~bedrock_channel:* &bedrock_channel:* instead.
//
// The channel's name counts as a key too, because it is passed among the keys of
// the script, as Redisson does it. CONFIG GET is used by Check only, which does
// without. A user of bedrock serve needs ~bedrock/health, too: by that lock, which
// nobody takes, the server finds out whether it can do its work.
package redislock
