package interop

import (
	"errors"
	"fmt"

	"github.com/bedrock-go/bedrock/interop/internal/peer"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// ofMultiLock are the scenes with RMultiLock, which takes one lock after the other, and several locks that Go takes in
// one step.
func ofMultiLock() scenes {
	return scenes{
		"MultiJavaHolds":          multiJavaHolds,
		"MultiGoHolds":            multiGoHolds,
		"MultiWakesJavaInOneStep": multiWakesJavaInOneStep,
	}
}

// all asks for the locks a and b.
func (l *latches) all() []driver.Request {
	l.calls++
	owner := fmt.Sprint("dddddddd-0000-4000-8000-000000000004:", l.calls)
	var reqs []driver.Request
	for _, name := range []string{"a", "b"} {
		reqs = append(reqs, driver.Request{Name: name, Owner: owner, TTL: peer.Patience, Tokens: 1})
	}
	return reqs
}

// takeAll takes the locks a and b.
func (l *latches) takeAll() []driver.Grant {
	l.Helper()
	grants, err := l.Backend.(driver.Bundler).AcquireAll(l.Context(), l.all())
	if err != nil {
		l.Fatal(err)
	}
	return grants
}

func (l *latches) giveAll(grants []driver.Grant) {
	l.Helper()
	for _, g := range grants {
		if _, err := l.Release(l.Context(), g); err != nil {
			l.Error(err)
		}
	}
}

// refusedAll checks that Go has none of the locks, and is told which one is held.
func (l *latches) refusedAll(held string) {
	l.Helper()
	_, err := l.Backend.(driver.Bundler).AcquireAll(l.Context(), l.all())
	told, ok := errors.AsType[*driver.HeldError](err)
	if !ok || told.Name != held || told.Owner == "" || told.TTL <= 0 || told.TTL > watchdog {
		l.Errorf("%q is held: %+v (%v)", held, told, err)
	}
}

func multiJavaHolds(e *together) {
	l := e.latches()
	for range wakeUps {
		e.java.Want("true", "a", "multi.try", "a,b", 0)
		l.refusedAll("a")
		e.java.Want("true", "a", "multi.unlock", "a,b", 0)
		e.java.Want("true", "a", "try", "b", 0)
		l.refusedAll("b")
		e.java.Want("false", "a", "locked", "a", 0)
		e.java.Want("true", "a", "unlock", "b", 0)
		l.giveAll(l.takeAll())
	}
}

func multiGoHolds(e *together) {
	l := e.latches()
	for range wakeUps {
		grants := l.takeAll()
		e.java.Want("false", "a", "multi.try", "a,b", 0)
		e.java.Want("false", "a", "multi.try", "b,a", 0)
		e.java.Want("true", "a", "locked", "a", 0)
		e.java.Want("true", "a", "locked", "b", 0)
		l.giveAll(grants)
		e.java.Want("true", "a", "multi.try", "a,b", 0)
		e.java.Want("true", "a", "multi.unlock", "a,b", 0)
	}
}

// multiWakesJavaInOneStep by Go's releases, one after the other; Go's leases would live for longer than it waits.
func multiWakesJavaInOneStep(e *together) {
	l := e.latches()
	e.java.Want("true", "b", "try", "b", 0) // the server knows Java's scripts from here on
	e.java.Want("true", "b", "unlock", "b", 0)
	for range wakeUps {
		grants := l.takeAll()
		e.javaWoken("multi.try", "a,b", func() { l.giveAll(grants) })
		e.java.Want("true", "waiting", "multi.unlock", "a,b", 0)
	}
}
