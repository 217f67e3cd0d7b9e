// Package redisstore keeps transactions on Redis or Valkey, alone, under
// Sentinel or in a cluster, with the client the program has: package goredis wraps
// go-redis, package rueidis wraps rueidis. Neither is imported here.
//
//	store, err := redisstore.New(ctx, goredis.Wrap(rdb), nil)
//
// # What Redis can promise
//
// As much as its settings: [New] refuses a server that keeps nothing on disk or
// evicts what it likes. With appendfsync always, what was acknowledged survives
// a crash of the machine; with everysec, all but the last second of it;
// [Store.Persistence] tells which. A fail-over to a replica can lose what the
// replica had not received yet. Where that must not happen, keep transactions in
// an SQL database.
//
// # Layout
//
// Transactions are spread over 64 shards by their ID. The keys of a shard have
// its number as their hash tag, so that in a cluster each shard is on one node
// and every write is one atomic script:
//
//	bedrock:{17}:tx:ID   a hash, the record
//	bedrock:{17}:queue   a sorted set, what is due and when
//	bedrock:{17}:index   a sorted set, by status and creation, and more
//
// Times are microseconds. What is due is decided by the clock of the server; the
// nodes of a cluster are to have theirs synchronized.
//
// # Permissions
//
// A user needs ~bedrock:* +@connection +@scripting +@hash +@sortedset +exists
// +del +time +info, in a cluster also +cluster, and better also
// +config|get.
package redisstore
