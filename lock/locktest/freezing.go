package locktest

import (
	"context"
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// faults: a store that is in trouble holds nobody up and deceives nobody.
func faults() []behaviour {
	freezing := []Capability{Freezing}
	return []behaviour{
		{name: "FrozenBackendHangsTheCaller", run: frozenBackendHangsTheCaller, needs: freezing},
		{name: "FrozenBackendOutlastsPatience", run: frozenBackendOutlastsPatience, needs: freezing},
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
	lease := e.lockSoon(a, name, nil)
	e.free(a, e.name("warm"))
	thaw := e.freeze()
	deadline := promptly / 2
	for what, call := range map[string]func(ctx context.Context) error{
		"Lock": func(ctx context.Context) error { _, err := a.Mutex(e.name("b"), nil).Lock(ctx); return err },
		"TryLock": func(ctx context.Context) error {
			_, err := a.Mutex(e.name("c"), nil).TryLock(ctx)
			return err
		},
		"queued Lock":  func(ctx context.Context) error { _, err := a.Mutex(name, nil).Lock(ctx); return err },
		"Inspect":      func(ctx context.Context) error { _, err := a.Inspect(ctx, name); return err },
		"ForceRelease": func(ctx context.Context) error { _, err := a.ForceRelease(ctx, e.name("d")); return err },
		"Unlock":       lease.Unlock,
	} {
		limit := e.limit(deadline + promptly)
		if err := call(e.contextFor(deadline)); err == nil {
			e.Errorf("%s succeeded on a frozen store", what)
		}
		limit.check(what + " on a frozen store")
	}
	thaw()
	e.becomesFree(a, name, e.long)
}

// frozenBackendOutlastsPatience asks with a context that never ends.
func frozenBackendOutlastsPatience(e *env) {
	a, b := e.client(&lock.Options{Patience: soon}), e.client(nil)
	e.free(a, e.name("warm"))
	thaw := e.freeze()
	for name, try := range map[string]bool{e.name("lock"): false, e.name("try"): true} {
		call := a.Mutex(name, nil).Lock
		if try {
			call = a.Mutex(name, nil).TryLock
		}
		limit := e.limit(2 * soon)
		_, err := call(e.Context())
		limit.check("asking a frozen store")
		if !errors.Is(err, driver.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) {
			e.Errorf("want ErrUnavailable, and no end of a context: %v", err)
		}
	}
	thaw()
	e.becomesFree(b, e.name("lock"), cleanUp)
	e.becomesFree(b, e.name("try"), cleanUp)
}

// frozenBackendHoldsCloseUp closes a client that holds, listens and cleans up.
func frozenBackendHoldsCloseUp(e *env) {
	a, b := e.client(&lock.Options{TTL: e.ttl}), e.client(nil)
	taken := e.lockSoon(b, e.name("taken"), nil)
	for i := range 40 {
		e.lockSoon(a, e.name(numbered(i)), nil)
	}
	waiting := e.startWaiting(e.contextFor(time.Minute), a.Mutex(taken.Name(), nil))
	thaw := e.freeze()
	if _, err := a.Mutex(e.name("doubt"), nil).Lock(e.contextFor(promptly / 4)); err == nil {
		e.Error("Lock succeeded on a frozen store")
	}
	limit := e.limit(2 * promptly)
	if err := a.Stop(e.contextFor(promptly)); !errors.Is(err, context.DeadlineExceeded) {
		e.Errorf("want DeadlineExceeded, got %v", err)
	}
	limit.check("Close on a frozen store")
	thaw()
	e.waitOver(waiting, soon)
	e.unlock(taken)
}

func frozenBackendHidesTheLoss(e *env) {
	a, name := e.client(&lock.Options{TTL: e.ttl}), e.name("a")
	lease := e.lockSoon(a, name, nil)
	thaw := e.freeze()
	e.ends(lease, e.ttl+promptly)
	thaw()
	e.lost(lease.Unlock(e.contextFor(soon)))
	e.becomesFree(a, name, e.ttl+soon)
}

// thawedBackendKeepsAGhost gives a request up that the store executes when it
// thaws.
func thawedBackendKeepsAGhost(e *env) {
	a, b, name := e.client(&lock.Options{TTL: time.Hour}), e.client(nil), e.name("a")
	e.free(a, e.name("warm"))
	e.free(b, e.name("warm"))
	thaw := e.freeze()
	if _, err := a.Mutex(name, nil).Lock(e.contextFor(promptly / 2)); !errors.Is(err, context.DeadlineExceeded) {
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
		link.Fail(bedrocktest.Acquire, bedrocktest.Fault{Before: broken})
	}
	limit := e.limit(soon)
	first, second := e.startWaiting(e.contextFor(cleanUp), a.Mutex(name, nil)),
		e.startWaiting(e.contextFor(cleanUp), a.Mutex(name, nil))
	for _, w := range []*waiter{first, second} {
		e.waitOver(w, cleanUp)
		if !errors.Is(w.err, broken) {
			e.Errorf("want the store's own error, got %v", w.err)
		}
	}
	limit.check("giving a broken store up")
}
