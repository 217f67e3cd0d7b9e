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
	if (held.Listen || held.Claim == 0 || k.q.listening != nil) && k.q.listens() {
		return nil // it may have been its turn before we listened: ask again
	}
	if held.Claim == 0 && k.q.hearsOfNoTurn() {
		return k.pauseFor(ctx, k.untoldPause(held), nil)
	}
	k.refusals = 0
	pause := k.placePause(held)
	var signal <-chan struct{}
	if k.q.watch != nil {
		signal = k.q.watch.C()
	} else if began := k.q.hearsSoon(); began != nil {
		signal = began
	}
	return k.pauseFor(ctx, pause, signal)
}

// hearsOfNoTurn reports whether nobody tells of turns: the backend tells of nothing, or not where it is just now. One
// that tells of releases alone has the request wait for its turn itself.
func (q *queue) hearsOfNoTurn() bool {
	_, tells := q.client.backend.(driver.Waiter)
	_, turns := q.client.backend.(driver.TurnWaiter)
	return q.watch == nil && q.listening == nil && (turns || !tells)
}

// placePause is how long who is told of its turn may sleep.
func (k *contest) placePause(held *driver.HeldError) time.Duration {
	pause := k.q.standing.shorten(min(driver.PauseInLine(k.again), longestWait))
	if left := driver.TimeLeft(held); held.MayBeNext() && left != driver.UnknownTTL {
		pause = min(pause, left+time.Millisecond)
	}
	return pause
}

// untoldPause is how long to wait where nobody tells of turns. Who is further behind looks the less often.
func (k *contest) untoldPause(held *driver.HeldError) time.Duration {
	k.refusals++
	look := time.Duration(held.Place) * pollPause(k.refusals, driver.TimeLeft(held))
	return min(k.placePause(held), k.q.client.jitter(look))
}

// isNewer reports whether a grant is of the time since the store was asked last: tokens rise.
func (s *standing) isNewer(g *driver.Grant) bool { return g.Token > s.token }
