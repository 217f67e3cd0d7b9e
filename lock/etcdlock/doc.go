// Package etcdlock keeps locks in etcd.
//
// It uses the client the program has. With [Compatible] it shares its locks with etcdctl lock, with concurrency.Mutex
// of the Go client, and with whatever else has keys below a name and a slash; with [Elections] its elections with
// etcdctl elect and concurrency.Election. By default its locks are its own, no two names meet, and there is every kind
// of them: mutexes, read-write locks, semaphores, latches, and several locks in one step.
//
//	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"127.0.0.1:2379"}})
//	if err != nil {
//		return err
//	}
//	locks, err := etcdlock.New(client, nil)
//	if err != nil {
//		return err
//	}
//	lease, err := locks.Mutex("orders/42", nil).Lock(ctx)
//
// # How it works
//
// Each lock has a folder, in which who has it and who waits have a key each; the first that was made has the lock. To
// take one that is free is one transaction, which writes nothing if it is not free. Who waits has its key from the
// moment it was refused, in order of coming, also among the waiters of other libraries; one watch for each name tells
// it that it is the first. So a release is one request, and the next one has the lock by it, with none of its own.
//
// What several may have at once is decided by who asks: it makes its key on condition that nothing is in its way, which
// is a comparison of a few ranges, as keys are called after what they are. So those who read do not disturb each other.
// Who waits to read or to write has a key, too, for five seconds, and is woken when it may come in.
//
// All grants of a client whose TTLs are about the same are kept by one lease of etcd, which lives for the TTL, and a
// tenth of that or a second, whichever is more, in whole seconds. A grant that is not renewed in time ends all the
// same when its TTL has passed, for its client deletes it; only when that one is dead or cut off does the lease have
// to end. If a request has no answer, its lease is not prolonged any more, and what else is kept by it goes over to
// another one: the request may come to the store at any time, and what it makes then ends with the lease.
//
// # What etcd can promise
//
// One grant at a time, over every death of a member and every election, as long as most members have their data. The
// time of a lease is counted by the leader, and anew by the next one, so it may be longer than was said, and never
// shorter. What is not shared is a clock: a process that stands still for longer than its TTL writes late, for which
// there is the token. Tokens are revisions of the store, and rise for as long as it has its data: one that is set up
// anew from a copy begins at the revision of that, unless it is told to skip some (etcdutl snapshot restore
// --bump-revision).
//
// # Permissions
//
// A role needs to read and write the keys that begin with [DefaultPrefix], or [Options.Prefix]; with [Compatible]
// those that begin with the names of its locks. Leases need no permission. Check tells if those below the prefix do not
// suffice, and writes nothing. It asks for the alarms, which only root may see, and does without.
package etcdlock
