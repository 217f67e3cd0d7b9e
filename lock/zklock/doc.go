// Package zklock keeps locks in ZooKeeper, in the nodes of Curator's recipes: clients of both exclude each other, and
// stand in one line. Mutexes are its InterProcessMutex, read-write locks its InterProcessReadWriteLock, semaphores its
// InterProcessSemaphoreV2, and the elections of a client with the profile [CuratorLatch] its LeaderLatch.
//
//	locks, err := zklock.Connect(ctx, []string{"a:2181", "b:2181", "c:2181/app"}, nil)
//	if err != nil {
//		return err
//	}
//	defer locks.Stop(ctx)
//	lease, err := locks.Mutex("orders/42", nil).Lock(ctx)
//
// By default a name is one element of a path, with what is not plain in it as %XX, below [Options.Root]. Of the profile
// [Curator] it is the rest of the path that Curator's users have.
//
// # What ZooKeeper can promise
//
// One grant at a time, as long as a majority of the servers keep their data: nothing is believed that the majority does
// not have. A lock is a node of the client's session, and ends with it, whatever clocks say. The fencing token is the
// number of the transaction that has made the node; it rises over everything but the loss of all data.
//
// A lease counts from the last request that was answered before it, and the session from what the servers have heard
// since, so a holder knows of its loss before anybody else can have the lock. A server that is cut off from the others
// may believe for a while what is over; a renewal therefore asks it to hear from the leader first. What it tells the
// leader of its clients may be half a tick late, for which a quarter of the session is kept: a lease may live for three
// quarters of it. By default a session is asked for that is long enough for [lock.Options.TTL]; the servers allow 20 of
// their ticks at most, 40 s as they come, and a client whose leases would be longer than that is refused.
//
// When a process dies, its locks are free when its session is over, which may be a third later than the lease.
//
// # The line
//
// Lock leaves a node behind that of who was before: its client is told when that one goes, and has the lock with no
// request in between; a release wakes one client. TryLock leaves none while somebody has the lock: it comes when nobody
// stands there, which under steady contention may be never.
//
// Readers and writers who wait have a place, too, and are told when to ask; so are candidates of an election, and who
// wants a lease that is not renewed, or that has a minimum or a longest hold time. A reader waits for the nearest
// writer before it, all others for the node before them, so a release wakes those whose turn it is. A place that is
// not asked for again is given up after 5 s.
//
// Permits have no places: who waits for some is told when one has come back, and asks. Those of one grant, 1,000 at
// most, are taken in one step, so two who want several never wait for each other. Users of Curator that wait for a
// permit go first.
//
// # What is missing
//
// There are no fair locks, since the place of a process that has died stays until its session is over, and no readers
// who may become writers, since no node tells of them. A writer may go on to read.
//
// # Permissions
//
// A client needs to create, delete and read nodes below the root, and to write into them in order to ask a holder for
// its lock. Nodes are made with [Options.ACL]; whoever shares the locks has to be able to delete, for the folder of a
// lock is made by one and used by all.
package zklock
