package lock

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// A wait whose caller leaves while its request is under way costs the backend more than one that ends well: what it may
// have been granted has to be released, once it has ended. Callers who leave faster than that is done would have the
// backend do nothing else, for this name and for all others.

const (
	// mostGivenBack is how many owners of a name may be given back at a time before somebody else asks for it.
	mostGivenBack = 4
	// askedDespite is after how long somebody asks nevertheless, so that a backend is found to be well again.
	askedDespite = time.Second
)

// errGivingBack is why a wait ends in vain that was held back so.
var errGivingBack = fmt.Errorf(
	"%w: what earlier requests may have been granted is being given back", driver.ErrUnavailable)

// backlog counts, by name, the owners of unknown outcome that are being given back.
type backlog struct {
	mu     sync.Mutex
	byName map[string]*arrears
}

// arrears are those of a name.
type arrears struct {
	owners  int
	despite time.Time     // when somebody may ask nevertheless; zero while they are few
	fewer   chan struct{} // closed when they are
}

// add counts one more, until done.
func (b *backlog) add(name string) (done func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.byName == nil {
		b.byName = make(map[string]*arrears)
	}
	a := b.byName[name]
	if a == nil {
		a = &arrears{fewer: make(chan struct{})}
		b.byName[name] = a
	}
	a.owners++
	return func() { b.remove(name, a) }
}

func (b *backlog) remove(name string, a *arrears) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if a.owners--; a.owners < mostGivenBack && !a.despite.IsZero() {
		close(a.fewer)
		a.despite, a.fewer = time.Time{}, make(chan struct{})
	}
	if a.owners == 0 {
		delete(b.byName, name)
	}
}

// mayAsk reports whether somebody may ask for a name at this moment, else for how long at most to wait for fewer.
func (b *backlog) mayAsk(name string, now time.Time) (fewer <-chan struct{}, most time.Duration, may bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.byName[name]
	switch {
	case a == nil || a.owners < mostGivenBack:
		return nil, 0, true
	case a.despite.IsZero():
		a.despite = now.Add(askedDespite)
	case !now.Before(a.despite):
		a.despite = now.Add(askedDespite)
		return nil, 0, true
	}
	return a.fewer, a.despite.Sub(now), false
}

// awaitBacklog has a contest wait before its first request while too much is given back that others before it have
// left behind. Who leaves meanwhile has asked for nothing, and leaves nothing behind.
func (k *contest) awaitBacklog(ctx context.Context) error {
	until := time.Now().Add(k.longestHeldBack())
	for !k.isHanded() {
		now := time.Now()
		fewer, most, may := k.q.client.backlog.mayAsk(k.req.Name, now)
		switch left := until.Sub(now); {
		case may, k.try && left <= 0: // it has time for one answer left
			return nil
		case left <= 0:
			k.deaf = errGivingBack
			return k.acquireFailed(errGivingBack)
		case left < most:
			most = left
		}
		err := k.pauseFor(ctx, most, fewer)
		switch {
		case ctx.Err() != nil: // whatever else has happened at this moment: it would ask in vain in others' place
			return endedAfter(cmp.Or(k.knownStill(), errGivingBack))
		case err != nil:
			return err
		}
		k.asked = time.Now()
		if isClosed(fewer) && !k.try { // the backend has done something
			until = k.asked.Add(k.longestHeldBack())
		}
	}
	return nil
}

// longestHeldBack is for how long a contest is held back while nothing is given back: the backend is silent then.
func (k *contest) longestHeldBack() time.Duration {
	opts := &k.q.client.opts
	switch {
	case k.try:
		return opts.AnswerTime() - opts.leastAnswer()
	case opts.Patience == -1:
		return opts.AnswerTime()
	}
	return opts.Patience
}
