// Package redisurl understands the URL of a Redis, for locks and for transactions.
//
//	redis://[user:password@]host[:port][/db][?option=value&…]
//	rediss://…                                                     the same over TLS
//	redis-sentinel://[user:password@]host[:port],…/master[/db][?…]
//	redis-cluster://[user:password@]host[:port],…[?…]
//
// Special characters in user names, passwords and values are percent-encoded.
// Errors name the part that is wrong and never quote anything that could be, or
// could hold, a password.
package redisurl
