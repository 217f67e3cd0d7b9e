package lock

import (
	"context"
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// A fair lock's line is in the store, and everybody who waits has a place of its own there: so each Lock has a queue
// of its own here, in which nobody else is. Nothing is passed on among them but by the store.

// awaitPlace passes the time until the next request of who stands in the store's line is worth making: it is told
// that it may be its turn, or has to ask so as to keep its place. Who comes next when the time of the one before it is
// up looks then, too.
func (k *contest) awaitPlace(ctx context.Context, refusal error) error {
	held, ok := errors.AsType[*driver.HeldError](refusal)
	if !ok || held.Place == 0 { // it does not stand
		k.refusals++
		return k.pauseFor(ctx, k.q.client.jitter(pollPause(k.refusals, driver.TimeLeft(refusal))), nil)
	}
	k.refusals = 0
	if (held.Listen || held.Claim == 0 || k.q.listening != nil) && k.q.listens() {
		return nil // it may have been its turn before we listened: ask again
	}
	pause := k.q.standing.shorten(min(driver.PauseInLine(k.again), longestWait))
	if left := driver.TimeLeft(refusal); held.MayBeNext() && left != driver.UnknownTTL {
		pause = min(pause, left+time.Millisecond)
	}
	var signal <-chan struct{}
	if k.q.watch != nil {
		signal = k.q.watch.C()
	} else if began := k.q.hearsSoon(); began != nil {
		signal = began
	}
	return k.pauseFor(ctx, pause, signal)
}

// isNewer reports whether a grant is of the time since the store was asked last: tokens rise.
func (s *standing) isNewer(g *driver.Grant) bool { return g.Token > s.token }
