package server

import (
	"sync"

	"github.com/bedrock-go/bedrock/internal/settle"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// endings are the grants whose ends were told here lately, or are being told: what ends after that is not lost, nor
// released once more. A release whose answer did not arrive comes again, and so does that of whoever cleans up.
type endings struct {
	mu             sync.Mutex
	latest, before map[ending]struct{}
}

// ending is that of one grant: its token tells it apart from others of the same owner.
type ending struct {
	name, owner string
	token       uint64
}

// keptEndings is after how many the older ones are forgotten. Who repeats a release does so within seconds.
const keptEndings = 4096

// noteEnd remembers the end of a grant, and reports whether it is the first that is told of it.
func (e *endings) noteEnd(g *driver.Grant) (first bool) {
	if g.Token == 0 { // nobody knows which one is meant
		return true
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.addEnding(ending{g.Name, g.Owner, g.Token})
}

// noteRelease is noteEnd for a release. An owner that was released without a token is given up: what it is found to
// have been granted is released once more.
func (e *endings) noteRelease(g *driver.Grant) (first bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	unknown := ending{name: g.Name, owner: g.Owner}
	if g.Token == 0 {
		e.addEnding(unknown)
		return true
	}
	return e.addEnding(ending{g.Name, g.Owner, g.Token}) && !e.knows(unknown)
}

// addEnding reports whether an ending is new. e.mu is held.
func (e *endings) addEnding(at ending) (first bool) {
	first = !e.knows(at)
	if len(e.latest) >= keptEndings {
		e.before, e.latest = e.latest, nil
	}
	if e.latest == nil {
		e.latest = make(map[ending]struct{})
	}
	e.latest[at] = struct{}{}
	return first
}

// knows reports whether an ending is remembered. e.mu is held.
func (e *endings) knows(at ending) bool {
	_, latest := e.latest[at]
	_, before := e.before[at]
	return latest || before
}

// forgetUndone forgets the end of a grant that is certain not to have come by a release with that answer.
func (e *endings) forgetUndone(g *driver.Grant, err error) {
	if err == nil || !settle.NothingHappened(err) {
		return
	}
	at := ending{g.Name, g.Owner, g.Token}
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.latest, at)
	delete(e.before, at)
}
