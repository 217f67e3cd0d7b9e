package locktest

import (
	"context"
	"errors"
	"time"

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
	link.Fail(Acquire, Fault{After: ErrReplyLost})
	lease := e.lock(a, name, nil)
	e.refused(b, name)
	e.unlock(lease)
	e.becomesFree(b, name, soon)
}

func lostReplyLeavesALock(e *env) {
	a, link := e.faultyClient(&lock.Options{TTL: time.Hour})
	b, name := e.client(nil), e.name("a")
	link.Fail(Acquire, Fault{After: ErrReplyLost})
	if _, err := a.Mutex(name, nil).TryLock(e.Context()); !lock.MaybeApplied(err) {
		e.Errorf("want an error of unknown outcome, got %v", err)
	}
	e.becomesFree(b, name, soon)
}

func lostUnlockLeavesALock(e *env) {
	for _, fault := range []Fault{{Before: ErrReplyLost}, {After: ErrReplyLost}, {Before: driver.ErrUnavailable}} {
		a, link := e.faultyClient(&lock.Options{TTL: time.Hour})
		b, name := e.client(nil), e.name("a")
		lease := e.lock(a, name, nil)
		link.Fail(Release, fault, fault)
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
	link.Fail(Acquire, Fault{Linger: promptly})
	start := time.Now()
	_, err := a.Mutex(name, nil).Lock(e.within(promptly / 4))
	if !errors.Is(err, context.DeadlineExceeded) {
		e.Errorf("want DeadlineExceeded, got %v", err)
	}
	e.took("a cancelled Lock", start, promptly/4+promptly)
	e.becomesFree(b, name, soon)
}

// lateRequestLeavesALock gives up while the request has not even arrived: the
// first clean-up finds nothing to clean.
func lateRequestLeavesALock(e *env) {
	a, link := e.faultyClient(&lock.Options{TTL: time.Hour})
	b, name := e.client(nil), e.name("a")
	link.Fail(Acquire, Fault{Delay: promptly / 4})
	_, err := a.Mutex(name, nil).Lock(e.within(promptly / 8))
	if !errors.Is(err, context.DeadlineExceeded) {
		e.Errorf("want DeadlineExceeded, got %v", err)
	}
	time.Sleep(promptly / 4) // now it has arrived
	e.becomesFree(b, name, soon)
}

// requestUnderWayLeavesALock gives up while the request is under way in its own
// process, behind a connection that takes long to be made: clean-up has to wait for
// it, for however long, and whatever other connections say meanwhile.
func requestUnderWayLeavesALock(e *env) {
	late := 4 * promptly
	inner, hold := e.server.Lag(e.TB)
	a, b, name := e.newClient(inner, &lock.Options{TTL: time.Hour}), e.client(nil), e.name("a")
	hold(late)
	_, err := a.Mutex(name, nil).Lock(e.within(promptly / 2))
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
		link.Fail(Acquire, Fault{Before: ErrReplyLost})
		for _, m := range []Method{Release, Force} { // whichever it cleans up with
			link.Fail(m, Fault{Delay: promptly / 4})
		}
		_, _ = a.Mutex(name, nil).TryLock(e.Context()) // its outcome is unknown on purpose
		lease := e.lock(a, name, nil)
		e.always(promptly/2, func() { e.refused(b, name) })
		if err := lease.Err(); err != nil {
			e.Errorf("the new lease: %v", err)
		}
		e.unlock(lease)
	}
}
