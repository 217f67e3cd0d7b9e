package locktest

import (
	"context"
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/lock"
)

// closing: a client that is closed leaves nothing.
func closing() []behaviour {
	return []behaviour{
		{name: "CloseLeavesAGrant", run: closeLeavesAGrant},
		{name: "LeastTimeOutlivesItsClient", run: leastTimeOutlivesItsClient},
		{name: "CloseForgetsTheWaiter", run: closeForgetsTheWaiter},
		{name: "CloseLeavesAGoroutine", run: closeLeavesAGoroutine},
		{name: "ClosedClientLocks", run: closedClientLocks},
	}
}

// close closes a client, which must go without a hitch.
func (e *env) close(c *lock.Client) {
	e.Helper()
	limit := e.limit(soon)
	if err := c.Stop(e.contextFor(cleanUp)); err != nil {
		e.Errorf("close: %v", err)
	}
	limit.check("Close")
}

func closeLeavesAGrant(e *env) {
	a, b := e.client(&lock.Options{TTL: time.Hour}), e.client(nil)
	var leases []*lock.Lease
	for i := range 50 {
		leases = append(leases, e.lockSoon(a, e.name(numbered(i)), nil))
	}
	ctx := leases[0].Context()
	e.close(a)
	if !errors.Is(context.Cause(ctx), lock.ErrClosed) {
		e.Errorf("the lease's context ended with %v, want ErrClosed", context.Cause(ctx))
	}
	for _, l := range leases {
		e.free(b, l.Name())
	}
	if err := leases[1].Unlock(e.contextFor(soon)); !errors.Is(err, lock.ErrClosed) {
		e.Errorf("unlock after close: want ErrClosed, got %v", err)
	}
}

// leastTimeOutlivesItsClient closes a client that has left a lock for the rest of its least time: that was said to the
// store, and nobody is there any more who would end it.
func leastTimeOutlivesItsClient(e *env) {
	a, b, name := e.client(&lock.Options{TTL: time.Hour}), e.client(nil), e.name("a")
	e.unlock(e.lockSoon(a, name, &lock.MutexOptions{MinHold: e.ttl}))
	e.close(a)
	e.becomesFree(b, name, e.ttl+soon)
}

func closeForgetsTheWaiter(e *env) {
	a, b, name := e.client(nil), e.client(nil), e.name("a")
	lease := e.lockSoon(a, name, nil)
	var waiters []*waiter
	for range 5 {
		waiters = append(waiters, e.startWaiting(e.contextFor(time.Minute), b.Mutex(name, nil)))
	}
	e.close(b)
	for _, w := range waiters {
		e.waitOver(w, promptly)
		if !errors.Is(w.err, lock.ErrClosed) {
			e.Errorf("want ErrClosed, got %v", w.err)
		}
	}
	e.unlock(lease)
	e.free(a, name)
}

// closeLeavesAGoroutine uses everything that starts one; the suite counts them
// when all clients are closed.
func closeLeavesAGoroutine(e *env) {
	a, link := e.faultyClient(&lock.Options{TTL: max(e.ttl, 2*time.Second)}) // a late machine must not lose the lease
	b, name := e.client(nil), e.name("a")
	held := e.lockSoon(b, name, nil)
	waiting := e.startWaiting(e.contextFor(time.Minute), a.Mutex(name, nil))
	renewed := e.lockSoon(a, e.name("b"), nil)
	e.eventually("a renewal", func() bool { return link.Returned(bedrocktest.Renew) > 0 })
	link.LoseReply(bedrocktest.Acquire)
	_, _ = a.Mutex(e.name("c"), nil).TryLock(e.Context()) // leaves a clean-up behind
	e.close(a)
	e.waitOver(waiting, promptly)
	if renewed.Context().Err() == nil {
		e.Error("a lease of a closed client goes on")
	}
	e.unlock(held)
}

func closedClientLocks(e *env) {
	a, name := e.client(nil), e.name("a")
	e.close(a)
	e.close(a)
	for what, try := range map[string]func(context.Context) error{
		"Lock":         func(ctx context.Context) error { _, err := a.Mutex(name, nil).Lock(ctx); return err },
		"TryLock":      func(ctx context.Context) error { _, err := a.Mutex(name, nil).TryLock(ctx); return err },
		"Inspect":      func(ctx context.Context) error { _, err := a.Inspect(ctx, name); return err },
		"ForceRelease": func(ctx context.Context) error { _, err := a.ForceRelease(ctx, name); return err },
	} {
		if err := try(e.contextFor(soon)); !errors.Is(err, lock.ErrClosed) {
			e.Errorf("%s of a closed client: want ErrClosed, got %v", what, err)
		}
	}
}
