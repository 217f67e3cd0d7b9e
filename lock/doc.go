// Package lock lets goroutines, processes and hosts agree who may act.
//
// A [Client] gives out locks of one backend: package redislock has one on Redis,
// package memlock one in this process. A [Mutex] is a lock on a name, and a
// [Lease] is what its holder has:
//
//	lease, err := locks.Mutex("orders/42", nil).Lock(ctx) // waits; ctx bounds the wait
//	if err != nil {
//		return err
//	}
//	defer lease.Unlock(ctx) // works even if ctx is over by then
//	return ship(lease.Context(), lease.Token())
//
// An [RWMutex] may be had by many to read, or by one to write, and a [Semaphore] by so many at a time. All of
// them are waited for, renewed, lost and given back alike.
//
// [Do] does the same around a function, for whatever is [Lockable]. [Client.Inspect] tells who
// holds what, an [Observer] what happens, and [Client.Stop] gives everything back. What is made of leases stands in
// packages of its own: multi for several locks at once, election for leaders; and latch for counts that many await.
//
// # What a lease promises
//
// A lease is renewed in the background for as long as it is held. When renewal
// fails, the lease's context ends with cause [ErrLost] before the backend can
// grant the lock to anybody else. That protects work which heeds its context. It
// cannot protect against a process that is paused between a check and a write:
// for that every lease has a token, higher than all before it, which the
// resource can compare.
//
// # Waiting
//
// The goroutines of a process form one queue per name, first come, first served.
// Only its front asks the backend; the others are parked and cost nothing. An
// unlock passes the lock to the next in the queue without a round trip, within
// the budget of [HandOff], after which other processes get their turn.
//
// # Where things are
//
// There are mutex.go, rwmutex.go and semaphore.go. A name is wanted (want.go), acquired
// (acquire*.go: the queue, the contest at the backend, listening and waiting), held (hold.go),
// renewed (renew*.go), handed on in this process (handoff.go), had by several at once
// (queue_shared.go; queue_side.go for who must not wait behind others), for as long as it may be
// (maxhold.go), shared with other processes (share*.go), released (release*.go), lost (lose*.go),
// inspected (inspect.go).
//
// # Errors
//
// Whatever an error says, nothing is left behind that could block others for
// longer than one TTL: a request whose outcome is unknown is settled in the
// background. [MaybeApplied] tells such errors from the rest.
package lock
