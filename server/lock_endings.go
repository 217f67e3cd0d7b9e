package server

import (
	"errors"
	"sync"

	"github.com/bedrock-go/bedrock/internal/settle"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// endings are how grants ended here lately, so that one end of each is told: a release whose answer did not arrive
// comes again, and so does that of whoever cleans up.
type endings struct {
	mu             sync.Mutex
	latest, before map[ending]*fate
}

// ending is that of one grant: its token tells it apart from others of the same owner. That of an owner has none.
type ending struct {
	name, owner string
	token       uint64
}

// fate is what is known of an ending.
type fate struct {
	releases int   // are under way
	unsure   bool  // one has ended, and nobody knows what it has done
	gone     error // what somebody was told who thought that the grant was there
	told     bool  // or need not be told any more
}

// keptEndings is after how many the older ones are forgotten. Who repeats a release does so within seconds.
const keptEndings = 4096

// beginRelease notes that a release is under way.
func (e *endings) beginRelease(g *driver.Grant) *fate {
	e.mu.Lock()
	defer e.mu.Unlock()
	f := e.fateOf(g)
	f.releases++
	return f
}

// endRelease returns what to tell of a grant whose release has ended so; nil if that is nothing.
func (e *endings) endRelease(g *driver.Grant, f *fate, err error) *LockEvent {
	e.mu.Lock()
	defer e.mu.Unlock()
	f.releases--
	switch {
	case err == nil && (g.Token == 0 || !f.told): // nobody knows which one is meant, or it is the first
		f.told = true
		return &LockEvent{Kind: LockEventReleased, Name: g.Name}
	case errors.Is(err, driver.ErrLost) && !e.isGivenUp(g): // what was never granted is not lost
		f.gone = err
	case err != nil && !settle.NothingHappened(err):
		f.unsure = true
	}
	return f.toTell(g.Name)
}

// isGivenUp reports whether an owner was released without a token: what it is found to have been granted is released
// once more. e.mu is held.
func (e *endings) isGivenUp(g *driver.Grant) bool {
	return e.find(ending{name: g.Name, owner: g.Owner}) != nil
}

// hasGone returns what to tell of a grant that the store does not have any more, as a renewal was told.
func (e *endings) hasGone(g *driver.Grant, err error) *LockEvent {
	if g.Token == 0 { // nobody knows which one is meant
		return &LockEvent{Kind: LockEventLost, Name: g.Name, Err: err}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	f := e.fateOf(g)
	f.gone = err
	return f.toTell(g.Name)
}

// toTell returns what to tell of a grant that has gone; nil while a release of it is under way, which may be why. A
// release of which nobody knows what it has done is taken for the reason.
func (f *fate) toTell(name string) *LockEvent {
	if f.told || f.gone == nil || f.releases > 0 {
		return nil
	}
	f.told = true
	if f.unsure {
		return &LockEvent{Kind: LockEventReleased, Name: name}
	}
	return &LockEvent{Kind: LockEventLost, Name: name, Err: f.gone}
}

// fateOf returns the fate of a grant. e.mu is held.
func (e *endings) fateOf(g *driver.Grant) *fate {
	at := ending{g.Name, g.Owner, g.Token}
	f := e.find(at)
	if f == nil {
		f = new(fate)
	}
	if len(e.latest) >= keptEndings {
		e.before, e.latest = e.latest, nil
	}
	if e.latest == nil {
		e.latest = make(map[ending]*fate)
	}
	e.latest[at] = f
	return f
}

// find returns nil if an ending is not remembered. e.mu is held.
func (e *endings) find(at ending) *fate {
	if f := e.latest[at]; f != nil {
		return f
	}
	return e.before[at]
}
