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
// one name, only the first asks the store: first come, first served.
func (l *locks) waitFor(ctx context.Context, req driver.Request, most time.Duration) (driver.Grant, error) {
	bounded, cancel := boundWait(ctx, most)
	defer cancel()
	leave, err := l.lines.enterFront(bounded, req.Name)
	if err != nil {
		return driver.Grant{}, stillHeld(ctx, bounded, nil)
	}
	defer leave()
	return l.contend(ctx, bounded, req)
}

// contend asks the store until it grants the lock or the wait is over. The request
// itself may take longer than the wait: an answer is worth having.
func (l *locks) contend(ctx, bounded context.Context, req driver.Request) (driver.Grant, error) {
	grant, err := l.askStore(ctx, req)
	if !errors.Is(err, driver.ErrHeld) {
		return grant, err
	}
	watch := l.startWatch(bounded, req.Name, req.Mode.Kind())
	if watch != nil {
		defer watch.Close()
	}
	for { // a release may have come before the watch: ask first
		grant, err := l.askStore(ctx, req)
		if !errors.Is(err, driver.ErrHeld) {
			return grant, err
		}
		if !pauseForRelease(bounded, watch, err) {
			return driver.Grant{}, stillHeld(ctx, bounded, err)
		}
	}
}

// startWatch listens for releases, if the store can tell of them.
func (l *locks) startWatch(ctx context.Context, name string, kind driver.Kind) driver.Watch {
	waiter, ok := l.backend.(driver.Waiter)
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, watchTime)
	defer cancel()
	w, err := waiter.Watch(ctx, name, kind)
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
	if left := driver.TimeLeft(held); left != driver.UnknownTTL {
		most = min(most, left+time.Millisecond)
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

// lines are the queues of those who wait, by name.
type lines struct {
	mu     sync.Mutex
	byName map[string]*line
}

// line is the queue at one name: a place at its front, for which goroutines wait in
// the order of their coming.
type line struct {
	front chan struct{}
	users int
}

// enterFront waits for the place at the front.
func (s *lines) enterFront(ctx context.Context, name string) (leave func(), err error) {
	q := s.joinLine(name)
	select {
	case q.front <- struct{}{}:
		return func() { <-q.front; s.leaveLine(name, q) }, nil
	case <-ctx.Done():
		s.leaveLine(name, q)
		return nil, ctx.Err()
	}
}

func (s *lines) joinLine(name string) *line {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byName == nil {
		s.byName = make(map[string]*line)
	}
	q := s.byName[name]
	if q == nil {
		q = &line{front: make(chan struct{}, 1)}
		s.byName[name] = q
	}
	q.users++
	return q
}

func (s *lines) leaveLine(name string, q *line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q.users--; q.users == 0 {
		delete(s.byName, name)
	}
}
