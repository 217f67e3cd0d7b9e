package locktest

import (
	"errors"

	"github.com/bedrock-go/bedrock/lock"
)

// exclusion: one holder at a time, whoever they are.
func exclusion() []behaviour {
	return []behaviour{
		{name: "TwoHoldersAtOnce", run: twoHoldersAtOnce},
		{name: "GoroutinesOfOneClientShareALock", run: goroutinesOfOneClientShareALock},
		{name: "HandOffIgnoresTheBackend", run: handOffIgnoresTheBackend},
		{name: "HolderIsNotNamed", run: holderIsNotNamed},
		{name: "ContendersMeet", run: contendersMeet},
		{name: "ContendersMeetWhenRepliesAreLost", run: contendersMeetWhenRepliesAreLost},
	}
}

func twoHoldersAtOnce(e *env) {
	a, b, name := e.client(nil), e.client(nil), e.name("a")
	lease := e.lockSoon(a, name, nil)
	e.refused(b, name)
	e.unlock(lease)
	lease = e.lockSoon(b, name, nil)
	e.refused(a, name)
	e.unlock(lease)
}

func goroutinesOfOneClientShareALock(e *env) {
	a, name := e.client(nil), e.name("a")
	lease := e.lockSoon(a, name, nil)
	e.refused(a, name)
	second := e.startWaiting(e.contextFor(soon), a.Mutex(name, nil))
	select {
	case <-second.done:
		e.Fatalf("a second goroutine got the lock too, error %v", second.err)
	case <-e.contextFor(promptly).Done():
	}
	e.unlock(lease)
	e.unlock(e.served(second, soon))
}

// handOffIgnoresTheBackend hands a lock on inside one process while another
// process looks on: at no moment may it get in.
func handOffIgnoresTheBackend(e *env) {
	a, b, name := e.client(nil), e.client(nil), e.name("a")
	lease := e.lockSoon(a, name, nil)
	for range 20 {
		next := e.startWaiting(e.contextFor(soon), a.Mutex(name, nil))
		e.queued(a, name, 1)
		e.unlock(lease)
		lease = e.served(next, soon)
		e.refused(b, name)
	}
	e.unlock(lease)
	e.free(b, name)
}

func holderIsNotNamed(e *env) {
	a, b, name := e.client(nil), e.client(nil), e.name("a")
	lease := e.lockSoon(a, name, nil)
	_, err := b.Mutex(name, nil).TryLock(e.contextFor(soon))
	held, ok := errors.AsType[*lock.HeldError](err)
	if !ok || held.Name != name {
		e.Fatalf("want a *lock.HeldError with the name %q, got %v", name, err)
	}
	if held.Owner != "" && held.Owner != e.told(lease.Owner()) {
		e.Errorf("held by %q, but the error names %q", lease.Owner(), held.Owner)
	}
	e.unlock(lease)
}

func contendersMeet(e *env) {
	c := contention{e: e, clients: 3, goroutines: 4, rounds: 20}
	c.run()
	c.history.check(e, false)
	c.expectGrants(3 * 4 * 20)
}

// contendersMeetWhenRepliesAreLost makes every seventh call of every client fail
// in one way or another.
func contendersMeetWhenRepliesAreLost(e *env) {
	c := contention{e: e, clients: 3, goroutines: 3, rounds: 15, faulty: true}
	c.run()
	c.history.check(e, false)
	c.expectGrants(3 * 3 * 15 / 2)
}
