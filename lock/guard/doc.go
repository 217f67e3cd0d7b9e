// Package guard is the resource's side of fencing tokens: it refuses who had a lock and does not know that it
// is somebody else's by now. The locks may be of any backend.
//
// A process that is paused between its last look at its lease and its write cannot be stopped by any lock. But
// every grant has a higher token than all before it, so what is written to can tell: it remembers the
// highest token it has seen of each lock's name. An equal one is accepted, for a holder writes many times; a
// higher one is accepted and remembered; a lower one is refused with a [*StaleError].
//
//	lease, err := locks.Mutex("orders/42", nil).Lock(ctx)
//	if err != nil {
//		return err
//	}
//	defer lease.Unlock(ctx)
//	orders := guard.NewMemory(nil) // or of package sqlguard, pgxguard, redisguard, etcdguard
//	if err := orders.Announce(ctx, guard.Of(lease)); err != nil { // before the first read
//		return err
//	}
//
// # What a resource has to do
//
//   - Check and write in one step: in a transaction, in a script, under a mutex. Whoever checks first and writes
//     later may be paused in between.
//   - Remember the token where the data is, for as long. A resource that forgets it lets old holders in again.
//   - Be told the token before the first read, by Announce. Otherwise the holder before can write between
//     that read and the first write, which then goes by what is not so any more.
//   - Be written to by nobody who has no token: repairs by hand take the lock, too.
//   - What cannot compare (mail, a payment) cannot be guarded: give it an idempotency key made of the lock's
//     name and token.
//
// # Which locks
//
// Mutexes, and read-write locks held to write. Readers that hold a lock together have tokens of different height,
// and those of permits are in no order: a resource would refuse some of them.
//
// # Where things are
//
// This package has the words, and [Memory] for what is kept in a process. Package sqlguard is for data in MySQL,
// MariaDB, PostgreSQL and SQLite, pgxguard for transactions of pgx, redisguard for data in Redis, etcdguard for
// data in etcd. Package httpguard, grpcguard and connectguard carry the token from a client to a service, which is a
// resource, too; the headers of that are in package header.
package guard
