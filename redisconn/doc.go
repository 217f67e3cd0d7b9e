// Package redisconn is the seam between Bedrock and the Redis client a program has.
//
//	conn := goredis.Wrap(rdb) // a go-redis client: alone, with Sentinel, a cluster's
//
// or, of a rueidis client,
//
//	conn := rueidis.Wrap(other)
//
// A [Conn] is what Bedrock needs of a client: to run scripts and to hear of messages.
// The packages below this one make one of either client, and neither compiles the
// other in; any other client can be wrapped the same way.
package redisconn
