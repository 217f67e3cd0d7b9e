package server

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/server/auth"
)

// How a waiting request looks again.
const (
	blindPause = 5 * time.Second        // with a watch, when the holder's time left is not known
	pollPause  = 100 * time.Millisecond // without a watch
	watchTime  = time.Second            // the longest a watch may take to begin: nobody asks meanwhile
)

// waitFor takes a lock as soon as it is free. Of all requests that wait at this server for
// one name, and are in one another's way, only the first asks the store: first come, first served.
func (l *locks) waitFor(ctx context.Context, req driver.Request, most time.Duration) (driver.Grant, error) {
	bounded, cancel := boundWait(ctx, most)
	defer cancel()
	leave, err := l.lines.enterFront(bounded, laneOf(&req))
	if err != nil {
		return driver.Grant{}, stillHeld(ctx, bounded, nil)
	}
	defer leave()
	grant, err := l.contend(ctx, bounded, req)
	if err != nil && mayHavePlace(&req) {
		l.giveUp(ctx, req.Ungranted())
	}
	return grant, err
}

// mayHavePlace reports whether the store, which was told that the request waits, may keep a place for it that nobody
// wants any more. That of a fair one is for whoever asks again under the same owner.
func mayHavePlace(req *driver.Request) bool { return req.Mode != driver.Permit && !req.Fair }

// contend asks the store until it grants the lock or the wait is over. The request
// itself may take longer than the wait: an answer is worth having.
func (l *locks) contend(ctx, bounded context.Context, req driver.Request) (driver.Grant, error) {
	grant, err := l.askStore(ctx, req)
	if !errors.Is(err, driver.ErrHeld) {
		return grant, err
	}
	if bounded.Err() != nil {
		return driver.Grant{}, stillHeld(ctx, bounded, err)
	}
	watch := l.startWatch(bounded, &req)
	if watch != nil {
		defer watch.Close()
	}
	for { // a release, or its turn, may have come before the watch: ask first
		grant, err := l.askStore(ctx, req)
		if !errors.Is(err, driver.ErrHeld) {
			return grant, err
		}
		if !pauseForRelease(bounded, watch, err) {
			return driver.Grant{}, stillHeld(ctx, bounded, err)
		}
	}
}

// startWatch listens for releases, or for the turn of a fair request, if the store can tell of them.
func (l *locks) startWatch(ctx context.Context, req *driver.Request) driver.Watch {
	ctx, cancel := context.WithTimeout(ctx, watchTime)
	defer cancel()
	var w driver.Watch
	err := driver.ErrUnsupported
	if waiter, ok := l.backend.(driver.TurnWaiter); ok && req.Fair {
		w, err = waiter.WatchTurn(ctx, req.Name, req.Owner)
	} else if waiter, ok := l.backend.(driver.Waiter); ok && !req.Fair {
		w, err = waiter.Watch(ctx, req.Name, req.Mode.Kind())
	}
	if err != nil {
		return nil
	}
	return w
}

// pauseForRelease waits until asking again is worth while. It reports whether there is time
// left.
func pauseForRelease(ctx context.Context, watch driver.Watch, held error) bool {
	most, signal := blindPause, (<-chan struct{})(nil)
	if watch == nil {
		most = pollPause
	} else {
		signal = watch.C()
	}
	refusal, ok := errors.AsType[*driver.HeldError](held)
	further := ok && refusal.Place > 0 && !refusal.MayBeNext() // when the holder's time is up, it is another's turn
	if left := driver.TimeLeft(held); left != driver.UnknownTTL && !further {
		most = min(most, left+time.Millisecond)
	}
	switch {
	case !ok || refusal.Again == 0:
	case refusal.Place > 0:
		most = min(most, driver.PauseInLine(refusal.Again))
	default:
		most = min(most, driver.PauseFor(refusal.Again))
	}
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-signal:
	case <-timer.C:
	case <-ctx.Done():
		return false
	}
	return true
}

// stillHeld is the answer when a bounded wait is over.
func stillHeld(ctx, bounded context.Context, held error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(context.Cause(bounded), auth.ErrRevoked):
		return auth.ErrRevoked
	case held != nil:
		return held
	default:
		return &driver.HeldError{TTL: driver.UnknownTTL}
	}
}

// lane is where a request waits: who wants something else of a name is not in its way, or is refused.
type lane struct {
	name        string
	kind        driver.Kind
	over        string
	upgradeable bool
	limit       int
}

func laneOf(req *driver.Request) lane {
	return lane{
		name: req.Name, kind: req.Mode.Kind(), over: req.Over, upgradeable: req.Upgradeable, limit: req.Limit,
	}
}

// lines are the queues of those who wait.
type lines struct {
	mu     sync.Mutex
	byLane map[lane]*line
}

// line is the queue of one lane: a spot at its front, for which goroutines wait in
// the order of their coming.
type line struct {
	front chan struct{}
	users int
}

// enterFront waits for the spot at the front.
func (s *lines) enterFront(ctx context.Context, at lane) (leave func(), err error) {
	q := s.joinLine(at)
	select {
	case q.front <- struct{}{}:
		return func() { <-q.front; s.leaveLine(at, q) }, nil
	case <-ctx.Done():
		s.leaveLine(at, q)
		return nil, ctx.Err()
	}
}

func (s *lines) joinLine(at lane) *line {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byLane == nil {
		s.byLane = make(map[lane]*line)
	}
	q := s.byLane[at]
	if q == nil {
		q = &line{front: make(chan struct{}, 1)}
		s.byLane[at] = q
	}
	q.users++
	return q
}

func (s *lines) leaveLine(at lane, q *line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q.users--; q.users == 0 {
		delete(s.byLane, at)
	}
}
