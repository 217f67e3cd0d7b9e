package locktest

import (
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/lock"
)

// restarts: the store goes away and comes back, with or without its memory.
func restarts() []behaviour {
	return []behaviour{
		{name: "RestartLosesTheLock", run: restartLosesTheLock, needs: []Capability{Restarting}},
		{name: "RestartLosesTheWaiter", run: restartLosesTheWaiter, needs: []Capability{Restarting}},
		{name: "ForgottenLockIsStillBelievedIn", run: forgottenLockIsStillBelievedIn, needs: []Capability{Restarting}},
		{name: "TokenGoesBackAfterDataLoss", run: tokenGoesBackAfterDataLoss, needs: []Capability{Restarting}},
		{name: "DisconnectLosesTheWaiter", run: disconnectLosesTheWaiter, needs: []Capability{Disconnecting}},
		{name: "NemesisLetsContendersMeet", run: nemesisLetsContendersMeet, needs: []Capability{Striking}},
	}
}

// restartLosesTheLock expects the store to remember. A request that meets a
// broken connection is repeated by Lock, but not by TryLock.
func restartLosesTheLock(e *env) {
	a, b, name := e.client(&lock.Options{TTL: e.long}), e.client(nil), e.name("a")
	lease := e.lockSoon(a, name, nil)
	e.server.Restart(true)
	_, err := b.Mutex(name, &lock.MutexOptions{Wait: soon}).Lock(e.Context())
	if !errors.Is(err, lock.ErrHeld) {
		e.Errorf("want ErrHeld, got %v", err)
	}
	if err := lease.Err(); err != nil {
		e.Errorf("the lease should be held: %v", err)
	}
	e.unlockInTheEnd(lease)
	e.becomesFree(b, name, cleanUp)
}

// unlockInTheEnd unlocks over a connection that may be broken.
func (e *env) unlockInTheEnd(l *lock.Lease) {
	e.Helper()
	if err := l.Unlock(e.contextFor(soon)); err != nil && !lock.MaybeApplied(err) {
		e.Fatalf("unlock: %v", err)
	}
}

// restartLosesTheWaiter unlocks after the waiter's watch has been broken.
func restartLosesTheWaiter(e *env) {
	long := &lock.Options{TTL: time.Hour}
	a, name := e.client(long), e.name("a")
	b, link := e.faultyClient(long)
	lease := e.lockSoon(a, name, nil)
	next := e.startWaiting(e.contextFor(time.Minute), b.Mutex(name, nil))
	e.eventually("the waiter listens", func() bool { return link.Returned(bedrocktest.Acquire) >= 2 })
	e.server.Restart(true)
	e.unlockInTheEnd(lease)
	e.unlock(e.served(next, cleanUp))
}

func forgottenLockIsStillBelievedIn(e *env) {
	a, name := e.client(&lock.Options{TTL: e.ttl}), e.name("a")
	lease := e.lockSoon(a, name, nil)
	e.server.Restart(false)
	e.ends(lease, e.ttl+promptly)
	e.lost(lease.Unlock(e.contextFor(soon)))
	e.becomesFree(a, name, cleanUp)
}

func tokenGoesBackAfterDataLoss(e *env) {
	a, b, name := e.client(nil), e.client(nil), e.name("a")
	last := e.tokenAfter(a, name, 0)
	for range 3 {
		last = e.tokenAfter(a, name, last)
	}
	e.server.Restart(false)
	for _, c := range []*lock.Client{b, a} {
		lease, err := c.Mutex(name, nil).Lock(e.contextFor(cleanUp))
		if err != nil {
			e.Fatalf("lock after the restart: %v", err)
		}
		if lease.Token() <= last {
			e.Errorf("token %d after %d: the restart took it back", lease.Token(), last)
		}
		last = lease.Token()
		e.unlock(lease)
	}
}

// disconnectLosesTheWaiter breaks all connections, unlocks at once, and expects
// the waiter to notice.
func disconnectLosesTheWaiter(e *env) {
	long := &lock.Options{TTL: time.Hour}
	a, name := e.client(long), e.name("a")
	b, link := e.faultyClient(long)
	for round := range 3 {
		asked := link.Returned(bedrocktest.Acquire) + 2
		if round > 0 { // it may listen still
			asked--
		}
		lease := e.lockSoon(a, name, nil)
		next := e.startWaiting(e.contextFor(time.Minute), b.Mutex(name, nil))
		e.eventually("the waiter listens", func() bool { return link.Returned(bedrocktest.Acquire) >= asked })
		e.server.Disconnect()
		e.unlockInTheEnd(lease)
		e.unlock(e.served(next, cleanUp))
	}
}

// nemesisLetsContendersMeet lets every nemesis of the server strike during
// contention.
func nemesisLetsContendersMeet(e *env) {
	for _, nemesis := range e.server.Nemeses {
		c := contention{
			e: e, clients: 2, goroutines: 4, rounds: 20,
			strike: func() error { return nemesis.Strike(e.Context()) },
		}
		c.run()
		c.history.check(e, nemesis.Forgets)
		c.expectGrants(2 * 4 * 20 * 9 / 10)
		if e.Failed() {
			e.Fatalf("that was with %s", nemesis.Name)
		}
	}
}
