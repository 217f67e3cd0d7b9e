package locktest

import (
	"errors"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// releasing: only its owner frees a lock, and once is as good as twice.
func releasing() []behaviour {
	return []behaviour{
		{name: "StrangerReleases", run: strangerReleases},
		{name: "RetriedAcquireCountsTwice", run: retriedAcquireCountsTwice},
		{name: "RetriedReleaseFails", run: retriedReleaseFails},
		{name: "RenewalEndsWhatIsReleased", run: renewalEndsWhatIsReleased},
		{name: "RetriedReleaseHitsTheNextHolder", run: retriedReleaseHitsTheNextHolder},
		{name: "LateUnlockHitsTheNextHolder", run: lateUnlockHitsTheNextHolder},
		{name: "SecondUnlockStaysSilent", run: secondUnlockStaysSilent},
		{name: "UnlockNeedsALiveContext", run: unlockNeedsALiveContext},
	}
}

func strangerReleases(e *env) {
	a, b, name := e.store(), e.store(), e.name("a")
	g := e.grant(a, e.request(name, e.long))
	stranger := g
	stranger.Owner = newOwner()
	if _, err := b.Release(e.contextFor(soon), stranger); !errors.Is(err, driver.ErrLost) {
		e.Errorf("release by a stranger: want ErrLost, got %v", err)
	}
	e.denied(b, g)
	if err := a.Renew(e.contextFor(soon), []driver.Grant{g})[0]; err != nil {
		e.Errorf("the owner's renewal afterwards: %v", err)
	}
	e.release(a, g)
}

// retriedAcquireCountsTwice repeats a request as one does whose reply was lost.
// A store that does not remember how many tokens it reserved may answer with
// some of them, but never with others.
func retriedAcquireCountsTwice(e *env) {
	a, b, name := e.store(), e.client(nil), e.name("a")
	req := e.request(name, e.long)
	req.Tokens = 3
	first := e.grant(a, req)
	for range 3 {
		again := e.grant(a, req)
		if again.Token < first.Token || again.Token+uint64(again.Tokens) > first.Token+uint64(first.Tokens) {
			e.Errorf("the same grant has %d tokens from %d and then %d from %d", first.Tokens, first.Token,
				again.Tokens, again.Token)
		}
	}
	e.release(a, first)
	e.free(b, name)
}

func retriedReleaseFails(e *env) {
	a, b, name := e.store(), e.client(nil), e.name("a")
	g := e.grant(a, e.request(name, e.long))
	e.release(a, g)
	e.release(a, g)
	e.free(b, name)
}

// renewalEndsWhatIsReleased renews a grant while it is released, in either order. Whoever releases what he has is told
// no loss: that the renewal finds nothing is his own doing.
func renewalEndsWhatIsReleased(e *env) {
	a, name := e.store(), e.name("a")
	for range 100 {
		g := e.grant(a, e.request(name, e.long))
		renewed := make(chan struct{})
		go func() {
			defer close(renewed)
			a.Renew(e.contextFor(soon), []driver.Grant{g})
		}()
		_, err := a.Release(e.contextFor(soon), g)
		<-renewed
		if err != nil {
			e.Fatalf("release beside a renewal: %v", err)
		}
	}
	e.free(e.client(nil), name)
}

func retriedReleaseHitsTheNextHolder(e *env) {
	a, b, name := e.store(), e.store(), e.name("a")
	old := e.grant(a, e.request(name, e.long))
	e.release(a, old)
	present := e.grant(b, e.request(name, e.long))
	if _, err := a.Release(e.contextFor(soon), old); err != nil && !errors.Is(err, driver.ErrLost) {
		e.Errorf("a repeated release: %v", err)
	}
	e.denied(a, present)
	e.release(b, present)
}

// lateUnlockHitsTheNextHolder unlocks a lease that ran out long ago.
func lateUnlockHitsTheNextHolder(e *env) {
	a, b, name := e.client(nil), e.client(nil), e.name("a")
	late := e.lockSoon(a, name, &lock.MutexOptions{TTL: e.ttl, Fixed: true})
	present, err := b.Mutex(name, nil).Lock(e.contextFor(e.ttl + soon))
	if err != nil {
		e.Fatalf("take over: %v", err)
	}
	e.lost(late.Unlock(e.contextFor(soon)))
	e.refused(a, name)
	if err := present.Err(); err != nil {
		e.Errorf("the present holder: %v", err)
	}
	e.unlock(present)
}

func secondUnlockStaysSilent(e *env) {
	a, b, name := e.client(nil), e.client(nil), e.name("a")
	lease := e.lockSoon(a, name, nil)
	e.unlock(lease)
	next := e.lockSoon(b, name, nil)
	if err := lease.Unlock(e.contextFor(soon)); !errors.Is(err, lock.ErrReleased) {
		e.Errorf("want ErrReleased, got %v", err)
	}
	e.refused(a, name)
	e.unlock(next)
}

func unlockNeedsALiveContext(e *env) {
	a, b, name := e.client(&lock.Options{TTL: e.long}), e.client(nil), e.name("a")
	lease := e.lockSoon(a, name, nil)
	limit := e.limit(promptly)
	if err := lease.Unlock(e.contextFor(0)); err != nil && !lock.MaybeApplied(err) {
		e.Errorf("unlock with a context that is over: %v", err)
	}
	limit.check("Unlock")
	e.becomesFree(b, name, soon)
}
