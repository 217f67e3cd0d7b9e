// Package latch lets many wait until a number of things have happened: a [Latch] has a count, which comes down to
// zero, and then everybody goes on.
//
//	ready := latch.New(locks, "import/42", nil)
//	_, err := ready.Set(ctx, 3) // by whoever comes first: who comes later finds it there
//
// Each of three says that it is done, and any number of processes wait:
//
//	left, err := ready.CountDown(ctx)
//
// And:
//
//	err := ready.Await(ctx) // ctx bounds the wait
//
// A latch is there while its count is above zero: at zero it is open, and gone, and may be set again. It has no time
// to live. When one of those who are to count it down dies, it stays closed until somebody counts for that one, or
// calls [Latch.Drop]; so whoever waits does so with a context that ends. What is to come back by itself when a process
// dies is a lease: a mutex, or a permit of a semaphore.
//
// A latch that is not there is open: Await returns at once, as that of Redisson's RCountDownLatch does, with which
// latches are shared on Redis. Set it before those start who wait.
//
// Its name is its own: no lock may have it meanwhile, else calls fail with [lock.ErrKind]. The backend must keep
// latches, as memory, Redis, etcd, PostgreSQL, MySQL, MariaDB and SQLite do in their default profiles, and servers that
// have their locks there; of any other the error is [lock.ErrUnsupported].
//
// # Once
//
// A call whose answer is lost is made again, for [Options.Patience], and recognised by the store: a CountDown counts
// once, however often it is sent. When it is given up all the same, [lock.MaybeApplied] tells whether it may have
// been carried out.
//
// # Errors
//
// An error matches that of the context when this has ended, together with its cause, and the backend's if that
// has failed last; [driver.ErrUnavailable] when the backend has not answered; [lock.ErrInvalid] for an argument that is
// not acceptable, [lock.ErrKind], [lock.ErrUnsupported], [ErrBelowZero]; [lock.ErrClosed] when the client is stopped,
// also while a call waits.
package latch
