package locktest

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// unknownOutcomes: a lost reply costs neither safety nor a TTL.
func unknownOutcomes() []behaviour {
	return []behaviour{
		{name: "LostReplyBlocksItsOwnRetry", run: lostReplyBlocksItsOwnRetry},
		{name: "LostReplyLeavesALock", run: lostReplyLeavesALock},
		{name: "LostUnlockLeavesALock", run: lostUnlockLeavesALock},
		{name: "CancelledAcquireLeavesALock", run: cancelledAcquireLeavesALock},
		{name: "LateRequestLeavesALock", run: lateRequestLeavesALock},
		{name: "RequestUnderWayLeavesALock", run: requestUnderWayLeavesALock, needs: []Capability{Lagging}},
		{name: "CleanUpFreesTheNextHolder", run: cleanUpFreesTheNextHolder},
	}
}

// lostReplyBlocksItsOwnRetry would wait for an hour if the retry came under
// another owner than the request that was granted.
func lostReplyBlocksItsOwnRetry(e *env) {
	a, link := e.faultyClient(&lock.Options{TTL: time.Hour})
	b, name := e.client(nil), e.name("a")
	link.LoseReply(bedrocktest.Acquire)
	lease := e.lockSoon(a, name, nil)
	e.refused(b, name)
	e.unlock(lease)
	e.becomesFree(b, name, soon)
}

func lostReplyLeavesALock(e *env) {
	a, link := e.faultyClient(&lock.Options{TTL: time.Hour})
	b, name := e.client(nil), e.name("a")
	link.LoseReply(bedrocktest.Acquire)
	if _, err := a.Mutex(name, nil).TryLock(e.Context()); !lock.MaybeApplied(err) {
		e.Errorf("want an error of unknown outcome, got %v", err)
	}
	e.becomesFree(b, name, soon)
}

func lostUnlockLeavesALock(e *env) {
	for _, fault := range []bedrocktest.Fault{
		{Before: bedrocktest.ErrReplyLost}, {After: bedrocktest.ErrReplyLost}, {Before: driver.ErrUnavailable},
	} {
		a, link := e.faultyClient(&lock.Options{TTL: time.Hour})
		b, name := e.client(nil), e.name("a")
		lease := e.lockSoon(a, name, nil)
		link.Fail(bedrocktest.Release, fault, fault)
		if err := lease.Unlock(e.Context()); !lock.MaybeApplied(err) {
			e.Errorf("want an error of unknown outcome, got %v", err)
		}
		e.becomesFree(b, name, soon)
	}
}

// cancelledAcquireLeavesALock gives up while the request is being granted.
func cancelledAcquireLeavesALock(e *env) {
	a, link := e.faultyClient(&lock.Options{TTL: time.Hour})
	b, name := e.client(nil), e.name("a")
	link.Fail(bedrocktest.Acquire, bedrocktest.Fault{Linger: promptly})
	limit := e.limit(promptly/4 + promptly)
	_, err := a.Mutex(name, nil).Lock(e.contextFor(promptly / 4))
	if !errors.Is(err, context.DeadlineExceeded) {
		e.Errorf("want DeadlineExceeded, got %v", err)
	}
	limit.check("a cancelled Lock")
	e.becomesFree(b, name, soon)
}

// lateRequestLeavesALock gives up while the request has not even arrived: the
// first clean-up finds nothing to clean.
func lateRequestLeavesALock(e *env) {
	late := &overtaken{Backend: e.connect(), arrived: make(chan struct{})}
	a, b, name := e.newClient(late, &lock.Options{TTL: time.Hour}), e.client(nil), e.name("a")
	_, err := a.Mutex(name, nil).Lock(e.contextFor(promptly / 8))
	if !errors.Is(err, context.DeadlineExceeded) {
		e.Errorf("want DeadlineExceeded, got %v", err)
	}
	select {
	case <-late.arrived:
	case <-e.contextFor(cleanUp).Done():
		e.Fatal("nothing was cleaned up")
	}
	e.becomesFree(b, name, soon)
}

// overtaken is a connection whose first request arrives when the first release has been
// answered.
type overtaken struct {
	*bedrocktest.Backend

	request atomic.Pointer[driver.Request]
	arrived chan struct{}
}

// Acquire implements [driver.Backend].
func (o *overtaken) Acquire(ctx context.Context, req driver.Request) (driver.Grant, error) {
	if !o.request.CompareAndSwap(nil, &req) {
		return o.Backend.Acquire(ctx, req)
	}
	<-ctx.Done()
	return driver.Grant{}, errors.Join(bedrocktest.ErrReplyLost, ctx.Err())
}

// Stand implements [driver.Successor].
func (o *overtaken) Stand(ctx context.Context, req driver.Request) (driver.Grant, error) {
	return o.Acquire(ctx, req)
}

// Release implements [driver.Backend].
func (o *overtaken) Release(ctx context.Context, g driver.Grant) (int, error) {
	n, err := o.Backend.Release(ctx, g)
	select {
	case <-o.arrived:
	default:
		_, _ = o.Backend.Acquire(ctx, *o.request.Load()) // nobody hears what comes of it
		close(o.arrived)
	}
	return n, err
}

// requestUnderWayLeavesALock gives up while the request is under way in its own
// process, behind a connection that takes long to be made: clean-up has to wait for
// it, for however long, and whatever other connections say meanwhile.
func requestUnderWayLeavesALock(e *env) {
	late := 4 * promptly
	inner, hold := e.server.Lag(e.TB)
	link := bedrocktest.NewBackend(inner)
	link.Fail(bedrocktest.Release, bedrocktest.Fault{Delay: promptly / 2}) // clean-up begins when nothing is held up
	a, b, name := e.newClient(link, &lock.Options{TTL: time.Hour}), e.client(nil), e.name("a")
	hold(late)
	_, err := a.Mutex(name, nil).Lock(e.contextFor(promptly / 2))
	if !errors.Is(err, context.DeadlineExceeded) {
		e.Errorf("want DeadlineExceeded, got %v", err)
	}
	hold(0)
	time.Sleep(2 * late) // now it has arrived
	e.becomesFree(b, name, soon)
}

// cleanUpFreesTheNextHolder takes the lock anew while a request of the same
// client is about to be cleaned up after.
func cleanUpFreesTheNextHolder(e *env) {
	a, link := e.faultyClient(&lock.Options{TTL: time.Hour})
	b, name := e.client(nil), e.name("a")
	for range 5 {
		link.Fail(bedrocktest.Acquire, bedrocktest.Fault{Before: bedrocktest.ErrReplyLost})
		link.Fail(bedrocktest.Release, bedrocktest.Fault{Delay: promptly / 4}) // it cleans up with that
		_, _ = a.Mutex(name, nil).TryLock(e.Context())                         // its outcome is unknown on purpose
		lease := e.lockSoon(a, name, nil)
		e.always(promptly/2, func() { e.refused(b, name) })
		if err := lease.Err(); err != nil {
			e.Errorf("the new lease: %v", err)
		}
		e.unlock(lease)
	}
}
