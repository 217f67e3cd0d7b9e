package locktest

import (
	"errors"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// latching: a latch counts each call once, and opens at zero.
func latching() []behaviour {
	needs := []Capability{Latching}
	return []behaviour{
		{name: "LatchIsSetTwice", run: latchIsSetTwice, needs: needs},
		{name: "CountDownCountsTwice", run: countDownCountsTwice, needs: needs},
		{name: "LatchGoesBelowZero", run: latchGoesBelowZero, needs: needs},
		{name: "CountsOfManyAreLost", run: countsOfManyAreLost, needs: needs},
		{name: "OpenLatchWakesNobody", run: openLatchWakesNobody, needs: append(needs, Watching)},
		{name: "LatchIsALock", run: latchIsALock, needs: needs},
		{name: "DroppedLatchStays", run: droppedLatchStays, needs: needs},
		{name: "LatchIsForced", run: latchIsForced, needs: append(needs, Forcing)},
	}
}

// setLatch gives a new latch its count.
func (e *env) setLatch(b *bedrocktest.Backend, name string, count int) {
	e.Helper()
	if set, err := b.SetLatch(e.contextFor(soon), name, newOwner(), count); err != nil || !set {
		e.Fatalf("set %q to %d: %t, %v", name, count, set, err)
	}
	e.counts(b, name, count)
}

// counts checks what is left of a latch.
func (e *env) counts(b *bedrocktest.Backend, name string, want int) {
	e.Helper()
	if left, err := b.LatchCount(e.contextFor(soon), name); err != nil || left != want {
		e.Errorf("%q: %d are left, want %d: %v", name, left, want, err)
	}
}

// countsDown counts a latch down, as the call of that ID.
func (e *env) countsDown(b *bedrocktest.Backend, name, id string, by, want int) {
	e.Helper()
	if left, err := b.CountDown(e.contextFor(soon), name, id, by); err != nil || left != want {
		e.Errorf("%q: %d are left after %d, want %d: %v", name, left, by, want, err)
	}
}

// latchIsSetTwice sets a latch that has a count, and repeats calls.
func latchIsSetTwice(e *env) {
	a, b, name, id := e.store(), e.store(), e.name("a"), newOwner()
	e.counts(a, name, 0)
	for range 2 {
		if set, err := a.SetLatch(e.contextFor(soon), name, id, 3); err != nil || !set {
			e.Errorf("set: %t, %v", set, err)
		}
	}
	again := newOwner()
	for range 2 {
		if set, err := b.SetLatch(e.contextFor(soon), name, again, 5); err != nil || set {
			e.Errorf("set once more: %t, %v", set, err)
		}
	}
	e.counts(b, name, 3)
	e.countsDown(b, name, newOwner(), 3, 0)
	if set, err := b.SetLatch(e.contextFor(soon), name, again, 5); err != nil || set {
		e.Errorf("a call that was refused is repeated when the latch is open: %t, %v", set, err)
	}
	e.setLatch(a, name, 2)
	e.countsDown(a, name, newOwner(), 2, 0)
}

// countDownCountsTwice repeats calls, as one does whose reply was lost; the last one when the latch is set anew.
func countDownCountsTwice(e *env) {
	a, b, name := e.store(), e.store(), e.name("a")
	e.setLatch(a, name, 3)
	first, last := newOwner(), newOwner()
	for range 3 {
		e.countsDown(b, name, first, 1, 2)
	}
	e.countsDown(a, name, newOwner(), 1, 1)
	e.countsDown(b, name, first, 1, 2) // it is told what it was told
	e.counts(a, name, 1)
	for range 2 {
		e.countsDown(a, name, last, 1, 0)
	}
	e.setLatch(b, name, 2)
	e.countsDown(a, name, last, 1, 0)
	e.counts(b, name, 2)
	e.countsDown(b, name, newOwner(), 2, 0)
}

// latchGoesBelowZero counts down by more than is left.
func latchGoesBelowZero(e *env) {
	a, name := e.store(), e.name("a")
	below := func(by, left int) {
		_, err := a.CountDown(e.contextFor(soon), name, newOwner(), by)
		told, ok := errors.AsType[*driver.CountError](err)
		if !ok || told.Left != left || told.By != by || !errors.Is(err, driver.ErrRefused) {
			e.Errorf("by %d of %d: %v", by, left, err)
		}
	}
	below(1, 0)
	e.setLatch(a, name, 3)
	below(4, 3)
	e.counts(a, name, 3)
	e.countsDown(a, name, newOwner(), 3, 0)
	below(1, 0)
}

// countsOfManyAreLost counts down by several clients at the same time: each answer comes once.
func countsOfManyAreLost(e *env) {
	const clients, each = 4, 10
	name, answers := e.name("a"), make(chan int, clients*each)
	e.setLatch(e.store(), name, clients*each)
	for range clients {
		b := e.store()
		go func() {
			for range each {
				left, err := b.CountDown(e.contextFor(soon), name, newOwner(), 1)
				if err != nil {
					e.Errorf("count down: %v", err)
					left = -1
				}
				answers <- left
			}
		}()
	}
	seen := make(map[int]bool)
	for range clients * each {
		seen[<-answers] = true
	}
	if len(seen) != clients*each || !seen[0] {
		e.Errorf("%d different answers of %d, the last among them: %t", len(seen), clients*each, seen[0])
	}
}

// openLatchWakesNobody waits for a latch.
func openLatchWakesNobody(e *env) {
	a, b, name := e.store(), e.store(), e.name("a")
	e.setLatch(a, name, 2)
	w, err := b.Watch(e.contextFor(soon), name, driver.Latch)
	if err != nil {
		e.Fatal(err)
	}
	defer w.Close()
	woken := func(what string) {
		e.Helper()
		select {
		case <-w.C():
		case <-time.After(soon):
			e.Errorf("%s woke nobody", what)
		}
	}
	e.countsDown(a, name, newOwner(), 1, 1)
	e.countsDown(a, name, newOwner(), 1, 0)
	woken("zero")
	e.setLatch(a, name, 1)
	if dropped, err := a.DropLatch(e.contextFor(soon), name); err != nil || !dropped {
		e.Fatalf("drop: %t, %v", dropped, err)
	}
	woken("a latch that was set and dropped")
}

// latchIsALock asks for a latch's name as a lock, and for a lock's as a latch.
func latchIsALock(e *env) {
	a, b := e.store(), e.store()
	for i, req := range e.everyMode() {
		e.setLatch(a, req.Name, 1)
		_, err := b.Acquire(e.contextFor(soon), req)
		e.isKind(err, driver.Latch, req.Mode.Kind())
		e.countsDown(b, req.Name, newOwner(), 1, 0)
		req.Name = e.name(fmt.Sprint("b", i))
		g := e.grant(a, req)
		_, err = b.SetLatch(e.contextFor(soon), req.Name, newOwner(), 1)
		e.isKind(err, req.Mode.Kind(), driver.Latch)
		_, err = b.CountDown(e.contextFor(soon), req.Name, newOwner(), 1)
		e.isKind(err, req.Mode.Kind(), driver.Latch)
		e.release(a, g)
	}
}

// isKind checks the refusal of a name that is of another kind.
func (e *env) isKind(err error, found, wanted driver.Kind) {
	e.Helper()
	if told, ok := errors.AsType[*driver.KindError](err); !ok || told.Found != found || told.Wanted != wanted {
		e.Errorf("a %s is asked for as a %s: %v", found, wanted, err)
	}
}

// latchIsForced takes a latch for a lock that can be taken away.
func latchIsForced(e *env) {
	a, name := e.store(), e.name("a")
	e.setLatch(a, name, 7)
	held, err := a.ForceRelease(e.contextFor(soon), name)
	if e.isKind(err, driver.Latch, driver.Mutex); held {
		e.Error("it was taken away")
	}
	e.countsDown(a, name, newOwner(), 7, 0)
}

// droppedLatchStays drops latches that are there, and that are not.
func droppedLatchStays(e *env) {
	a, b, name := e.store(), e.store(), e.name("a")
	for range 2 {
		e.setLatch(a, name, 7)
		for _, want := range []bool{true, false} {
			if dropped, err := b.DropLatch(e.contextFor(soon), name); err != nil || dropped != want {
				e.Errorf("dropped: %t, want %t: %v", dropped, want, err)
			}
			e.counts(a, name, 0)
		}
	}
}
