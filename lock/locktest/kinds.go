package locktest

import (
	"context"
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// kinds: a name is that of one kind of lock at a time, and who asks for another is told so.
func kinds() []behaviour {
	both := []Capability{Sharing, Permitting}
	return []behaviour{
		{name: "KindsMeet", run: kindsMeet, needs: both},
		{name: "KindOutlivesItsHolders", run: kindOutlivesItsHolders, needs: both},
		{name: "KindOfAWaitingWriterRemains", run: kindOfAWaitingWriterRemains, needs: []Capability{Sharing}},
		{name: "ForcedReleaseSparesAKind", run: forcedReleaseSparesAKind, needs: append(both, Forcing)},
		{name: "ListHidesAKind", run: listHidesAKind, needs: append(both, Inspecting)},
	}
}

// ofEachKind returns a lock of every kind, of one name.
func ofEachKind(c *lock.Client, name string) map[driver.Kind]lock.Lockable {
	return map[driver.Kind]lock.Lockable{
		driver.Mutex: c.Mutex(name, nil), driver.ReadWrite: c.RWMutex(name, nil).Writer(),
		driver.Semaphore: c.Semaphore(name, 3, nil),
	}
}

func kindsMeet(e *env) {
	a, b, name := e.client(nil), e.client(nil), e.name("a")
	held := ofEachKind(a, name)
	held[driver.ReadWrite] = a.RWMutex(name, nil).Reader()
	for kind, l := range held {
		lease := e.takeSoon(l)
		for wanted, other := range ofEachKind(b, name) {
			if wanted != kind {
				e.ofAnotherKind(other, kind, wanted)
			}
		}
		again, err := b.Inspect(e.contextFor(soon), name)
		if err == nil && (again.Kind != kind || len(again.Holders) != 1) {
			e.Errorf("a %s that others have asked for as something else is shown as %+v", kind, again)
		}
		e.unlock(lease)
	}
}

// ofAnotherKind checks that a lock is refused, since its name is that of another kind.
func (e *env) ofAnotherKind(l lock.Lockable, found, wanted driver.Kind) {
	e.Helper()
	lease, err := l.Lock(e.contextFor(soon))
	if err == nil {
		e.Fatalf("a %s was granted as a %s with token %d", found, wanted, lease.Token())
	}
	told, ok := errors.AsType[*driver.KindError](err)
	if !ok || told.Found != found || told.Wanted != wanted {
		e.Errorf("a %s is asked for as a %s: %v", found, wanted, err)
	}
}

func kindOutlivesItsHolders(e *env) {
	a, abandoned, name := e.client(nil), e.store(), e.name("a")
	for range 2 {
		for _, l := range ofEachKind(a, name) {
			e.unlock(e.takeSoon(l))
		}
	}
	e.grant(abandoned, e.requestIn(driver.Shared, name, e.ttl))
	time.Sleep(e.ttl + promptly)
	e.free(a, name)
	e.grant(abandoned, e.requestIn(driver.Permit, name, e.ttl))
	time.Sleep(e.ttl + promptly)
	e.free(a, name)
}

// kindOfAWaitingWriterRemains: a writer that waited keeps readers off, but not another kind, once nobody
// has the lock.
func kindOfAWaitingWriterRemains(e *env) {
	a, b, name := e.store(), e.client(nil), e.name("a")
	reader := e.grant(a, e.requestIn(driver.Shared, name, e.long))
	writer := e.requestIn(driver.Write, name, e.long)
	writer.Waits = true
	e.heldBy(a, writer, reader.Owner)
	e.release(a, reader)
	e.free(b, name)
	e.giveUp(a, writer)
}

func forcedReleaseSparesAKind(e *env) {
	a, b, c, name := e.client(&lock.Options{TTL: e.ttl}), e.client(nil), e.client(nil), e.name("a")
	e.unlock(e.lockSoon(c, name, nil)) // it is connected
	held := ofEachKind(a, name)
	for _, victims := range [][]lock.Lockable{
		{held[driver.ReadWrite]},
		{a.RWMutex(name, nil).Reader(), b.RWMutex(name, nil).Reader()},
		{held[driver.Semaphore], b.Semaphore(name, 3, nil).Permits(2)},
	} {
		var leases []*lock.Lease
		for _, v := range victims {
			leases = append(leases, e.takeSoon(v))
		}
		if held, err := c.ForceRelease(e.contextFor(soon), name); err != nil || !held {
			e.Fatalf("force release: held %v, error %v", held, err)
		}
		next := e.lockSoon(c, name, nil)
		for _, lease := range leases {
			if next.Token() <= lease.Token()+1 {
				e.Errorf("a victim's token is %d, the next holder's %d: none was skipped", lease.Token(), next.Token())
			}
			e.lost(lease.Unlock(e.contextFor(soon)))
		}
		e.unlock(next)
	}
}

func listHidesAKind(e *env) {
	a, b := e.client(nil), e.client(nil)
	want := map[string]driver.Kind{}
	for kind, short := range map[driver.Kind]string{
		driver.Mutex: "m", driver.ReadWrite: "{r}w", driver.Semaphore: "s",
	} {
		name := e.name(short)
		want[name] = kind
		defer e.unlock(e.takeSoon(ofEachKind(a, name)[kind]))
	}
	tagged := e.name("{s}2")
	want[tagged] = driver.Semaphore
	defer e.unlock(e.takeSoon(a.Semaphore(tagged, 2, nil)))
	infos, err := b.List(e.contextFor(soon), e.prefix, 100)
	if err != nil || len(infos) != len(want) {
		e.Errorf("%d locks are held, listed are %d, error %v", len(want), len(infos), err)
	}
	for _, info := range infos {
		if kind, held := want[info.Name]; !held || kind != info.Kind || len(info.Holders) != 1 {
			e.Errorf("%q is a %s, listed as %+v", info.Name, kind, info)
		}
	}
}

// takeSoon takes a lock that must be had soon.
func (e *env) takeSoon(l lock.Lockable) *lock.Lease {
	e.Helper()
	limited := e.startTaking(e.Context(), l)
	return e.served(limited, soon)
}

// startTaking begins to wait for a lock of any kind.
func (e *env) startTaking(ctx context.Context, l lock.Lockable) *waiter {
	w := &waiter{done: make(chan struct{})}
	go func() {
		defer close(w.done)
		w.lease, w.err = l.Lock(ctx)
	}()
	return w
}

// refusedTo checks that a lock of any kind cannot be had now.
func (e *env) refusedTo(l lock.Lockable) {
	e.Helper()
	_ = e.refusal(l)
}

// refusal returns why a lock of any kind cannot be had now.
func (e *env) refusal(l lock.Lockable) *lock.HeldError {
	e.Helper()
	lease, err := l.TryLock(e.contextFor(soon))
	if err == nil {
		e.Fatalf("%q was granted with token %d while it was held", l.Name(), lease.Token())
	}
	held, ok := errors.AsType[*lock.HeldError](err)
	if !ok {
		e.Fatalf("want a *lock.HeldError, got %v", err)
	}
	return held
}

// freeTo checks that a lock of any kind can be had now.
func (e *env) freeTo(l lock.Lockable) {
	e.Helper()
	lease, err := l.TryLock(e.contextFor(soon))
	if err != nil {
		e.Fatalf("%q is not free: %v", l.Name(), err)
	}
	e.unlock(lease)
}
