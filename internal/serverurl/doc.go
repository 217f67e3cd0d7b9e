// Package serverurl understands the URLs of servers, for locks and for transactions.
//
//	redis://[user:password@]host[:port][/db][?option=value&…]
//	rediss://…                                                     the same over TLS
//	redis-sentinel://[user:password@]host[:port],…/master[/db][?…]
//	redis-cluster://[user:password@]host[:port],…[?…]
//	etcd://[user:password@]host[:port],…[?…]
//	zk://[user:password@]host[:port],…[/path][?…]
//
// Special characters in user names, passwords and values are percent-encoded.
// Errors name the part that is wrong and never quote anything that could be, or
// could hold, a password.
package serverurl
