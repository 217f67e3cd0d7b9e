package locktest

import (
	"errors"

	"github.com/bedrock-go/bedrock/lock"
)

// reentry: only a context that carries the lease re-enters.
func reentry() []behaviour {
	return []behaviour{
		{name: "ReentryDeadlocks", run: reentryDeadlocks},
		{name: "ReentryFreesTheLockEarly", run: reentryFreesTheLockEarly},
		{name: "StrangerReenters", run: strangerReenters},
	}
}

func reentryDeadlocks(e *env) {
	a, name := e.client(nil), e.name("a")
	outer := e.lockSoon(a, name, nil)
	inner, err := a.Mutex(name, nil).Lock(outer.Context())
	if err != nil {
		e.Fatalf("re-enter: %v", err)
	}
	if inner.Token() != outer.Token() || inner.Owner() != outer.Owner() {
		e.Errorf("re-entered as %s with token %d, was %s with %d",
			inner.Owner(), inner.Token(), outer.Owner(), outer.Token())
	}
	e.unlock(inner)
	e.unlock(outer)
	e.free(a, name)
}

func reentryFreesTheLockEarly(e *env) {
	a, b, name := e.client(nil), e.client(nil), e.name("a")
	outer := e.lockSoon(a, name, nil)
	for range 3 {
		inner, err := a.Mutex(name, nil).TryLock(outer.Context())
		if err != nil {
			e.Fatalf("re-enter: %v", err)
		}
		e.unlock(inner)
		e.refused(b, name)
	}
	e.unlock(outer)
	e.free(b, name)
}

// strangerReenters tries to re-enter another client's lock, and another lock.
func strangerReenters(e *env) {
	a, b, name := e.client(nil), e.client(nil), e.name("a")
	other := e.lockSoon(b, e.name("b"), nil)
	outer := e.lockSoon(a, name, nil)
	for what, m := range map[string]*lock.Mutex{
		"another client": b.Mutex(name, nil), "another name": a.Mutex(e.name("b"), nil),
	} {
		if _, err := m.TryLock(outer.Context()); !errors.Is(err, lock.ErrHeld) {
			e.Errorf("re-entry through %s: want ErrHeld, got %v", what, err)
		}
	}
	e.unlock(outer)
	e.unlock(other)
}
