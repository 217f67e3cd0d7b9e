package locktest

import (
	"context"
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/lock"
)

// faults: a store that is in trouble holds nobody up and deceives nobody.
func faults() []behaviour {
	freezing := []Capability{Freezing}
	return []behaviour{
		{name: "FrozenBackendHangsTheCaller", run: frozenBackendHangsTheCaller, needs: freezing},
		{name: "FrozenBackendHidesTheLoss", run: frozenBackendHidesTheLoss, needs: freezing},
		{name: "ThawedBackendKeepsAGhost", run: thawedBackendKeepsAGhost, needs: freezing},
		{name: "FrozenBackendHoldsCloseUp", run: frozenBackendHoldsCloseUp, needs: freezing},
		{name: "ShortFreezeLosesALock", run: shortFreezeLosesALock, needs: freezing},
		{name: "FailingBackendIsWaitedForInVain", run: failingBackendIsWaitedForInVain},
	}
}

// freeze freezes the store until it is thawed or the behaviour is over.
func (e *env) freeze() (thaw func()) {
	e.server.Freeze()
	frozen := true
	thaw = func() {
		if frozen {
			e.server.Thaw()
		}
		frozen = false
	}
	e.Cleanup(thaw)
	return thaw
}

func frozenBackendHangsTheCaller(e *env) {
	a, name := e.client(nil), e.name("a")
	lease := e.lock(a, name, nil)
	e.free(a, e.name("warm"))
	thaw := e.freeze()
	deadline := promptly / 2
	for what, call := range map[string]func(ctx context.Context) error{
		"Lock":         func(ctx context.Context) error { _, err := a.Mutex(e.name("b"), nil).Lock(ctx); return err },
		"TryLock":      func(ctx context.Context) error { _, err := a.Mutex(e.name("c"), nil).TryLock(ctx); return err },
		"queued Lock":  func(ctx context.Context) error { _, err := a.Mutex(name, nil).Lock(ctx); return err },
		"Inspect":      func(ctx context.Context) error { _, err := a.Inspect(ctx, name); return err },
		"ForceRelease": func(ctx context.Context) error { _, err := a.ForceRelease(ctx, e.name("d")); return err },
		"Unlock":       lease.Unlock,
	} {
		start := time.Now()
		if err := call(e.within(deadline)); err == nil {
			e.Errorf("%s succeeded on a frozen store", what)
		}
		e.took(what+" on a frozen store", start, deadline+promptly)
	}
	thaw()
	e.becomesFree(a, name, e.long)
}

// frozenBackendHoldsCloseUp closes a client that holds, listens and cleans up.
func frozenBackendHoldsCloseUp(e *env) {
	a, b := e.client(&lock.Options{TTL: e.ttl}), e.client(nil)
	taken := e.lock(b, e.name("taken"), nil)
	for i := range 40 {
		e.lock(a, e.name(numbered(i)), nil)
	}
	waiting := e.wait(e.within(time.Minute), a.Mutex(taken.Name(), nil))
	thaw := e.freeze()
	if _, err := a.Mutex(e.name("doubt"), nil).Lock(e.within(promptly / 4)); err == nil {
		e.Error("Lock succeeded on a frozen store")
	}
	start := time.Now()
	if err := a.Close(e.within(promptly)); !errors.Is(err, context.DeadlineExceeded) {
		e.Errorf("want DeadlineExceeded, got %v", err)
	}
	e.took("Close on a frozen store", start, 2*promptly)
	thaw()
	e.over(waiting, soon)
	e.unlock(taken)
}

func frozenBackendHidesTheLoss(e *env) {
	a, name := e.client(&lock.Options{TTL: e.ttl}), e.name("a")
	lease := e.lock(a, name, nil)
	thaw := e.freeze()
	e.ends(lease, e.ttl+promptly)
	thaw()
	e.lost(lease.Unlock(e.within(soon)))
	e.becomesFree(a, name, e.ttl+soon)
}

// thawedBackendKeepsAGhost gives a request up that the store executes when it
// thaws.
func thawedBackendKeepsAGhost(e *env) {
	a, b, name := e.client(&lock.Options{TTL: time.Hour}), e.client(nil), e.name("a")
	e.free(a, e.name("warm"))
	e.free(b, e.name("warm"))
	thaw := e.freeze()
	if _, err := a.Mutex(name, nil).Lock(e.within(promptly / 2)); !errors.Is(err, context.DeadlineExceeded) {
		e.Errorf("want DeadlineExceeded, got %v", err)
	}
	thaw()
	e.becomesFree(b, name, cleanUp)
}

// shortFreezeLosesALock freezes the store for less than a renewal can be late.
func shortFreezeLosesALock(e *env) {
	e.keeps(func(h *holder) {
		for range 3 {
			start, thaw := time.Now(), e.freeze()
			time.Sleep(h.ttl / 4)
			thaw()
			h.took(start, h.ttl/4)
			h.stays(h.ttl / 2)
		}
	})
}

// failingBackendIsWaitedForInVain checks that patience has an end, for those in
// the queue too.
func failingBackendIsWaitedForInVain(e *env) {
	a, link := e.faultyClient(&lock.Options{Patience: promptly})
	name := e.name("a")
	broken := errors.New("broken")
	for range 100 {
		link.Fail(Acquire, Fault{Before: broken})
	}
	start := time.Now()
	first, second := e.wait(e.within(cleanUp), a.Mutex(name, nil)), e.wait(e.within(cleanUp), a.Mutex(name, nil))
	for _, w := range []*waiter{first, second} {
		e.over(w, cleanUp)
		if !errors.Is(w.err, broken) {
			e.Errorf("want the store's own error, got %v", w.err)
		}
	}
	e.took("giving a broken store up", start, soon)
}
