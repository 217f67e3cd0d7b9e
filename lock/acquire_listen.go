package lock

import (
	"context"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

const (
	watchTime  = 5 * time.Second       // the longest a watch may take to begin
	watchRetry = 5 * time.Second       // after a watch could not be had
	watchPoll  = 20 * time.Millisecond // while a watch is beginning: the first pause
)

// listening is a watch that is beginning. Nobody waits for it: until it is there,
// who wants the lock goes on asking.
type listening struct {
	began chan struct{} // closed when there is a watch, or none to be had
	watch driver.Watch
	stop  context.CancelFunc
}

// listens sees to it that the queue hears of releases, if the backend can tell of
// them. It reports whether a watch has begun just now.
func (q *queue) listens() (begun bool) {
	watch := q.watcher()
	if watch == nil || q.watch != nil {
		return false
	}
	switch l := q.listening; {
	case l == nil && q.client.now() >= q.watchAfter:
		q.listening = q.beginToListen(watch)
	case l != nil && isClosed(l.began):
		q.listening = nil
		if l.watch == nil {
			q.watchAfter = q.client.now() + watchRetry
			break
		}
		q.beginHearing(l.watch)
	}
	return q.watch != nil
}

// watcher returns what begins a watch that wakes the one at the front; nil if the backend has none.
func (q *queue) watcher() func(ctx context.Context) (driver.Watch, error) {
	if q.fair {
		backend, ok := q.client.backend.(driver.TurnWaiter)
		if !ok {
			return nil
		}
		owner := q.client.ownerOf(q.asks.Load())
		return func(ctx context.Context) (driver.Watch, error) { return backend.WatchTurn(ctx, q.name, owner) }
	}
	backend, ok := q.client.backend.(driver.Waiter)
	if !ok {
		return nil
	}
	return func(ctx context.Context) (driver.Watch, error) { return backend.Watch(ctx, q.name, q.kind) }
}

// resumeListening gets the watch at once that the backend still has of a name.
func (q *queue) resumeListening() {
	if r, ok := q.client.backend.(driver.Resumer); ok && !q.fair && q.watch == nil && q.listening == nil {
		if w := r.Resume(q.name, q.kind); w != nil {
			q.beginHearing(w)
		}
	}
}

func (q *queue) beginToListen(begin func(ctx context.Context) (driver.Watch, error)) *listening {
	c := q.client
	ctx, stop := context.WithTimeout(c.background, watchTime)
	l := &listening{began: make(chan struct{}), stop: stop}
	c.work.Go(func() {
		defer close(l.began)
		defer stop()
		watch, err := begin(ctx)
		if err != nil {
			c.opts.Logger.Debug("lock: cannot listen for releases, polling", "name", q.name, "err", err)
			return
		}
		l.watch = watch
	})
	return l
}

// hearsSoon returns what tells that a watch has begun, nil if none is beginning.
func (q *queue) hearsSoon() <-chan struct{} {
	if q.listening == nil {
		return nil
	}
	return q.listening.began
}

// deafPause is how long to wait until asking again when releases are not heard of:
// at first longer than usual if they soon will be.
func (q *queue) deafPause(refusals int, left time.Duration) time.Duration {
	pause := pollPause(refusals, left)
	if q.listening != nil && (left == driver.UnknownTTL || left > watchPoll) {
		pause = max(pause, watchPoll)
	}
	return pause
}

// frontsThings are what the one at the front had for itself, when it has gone and nobody has come.
type frontsThings struct {
	standing  *standing
	watch     driver.Watch
	listening *listening
}

// stopListening ends the watch of who goes on under another owner.
func (q *queue) stopListening() {
	frontsThings{watch: q.watch, listening: q.listening}.endAll(q)
	q.watch, q.listening = nil, nil
}

// leaveFront takes them out of the queue. part.mu is held.
func (q *queue) leaveFront() frontsThings {
	t := frontsThings{q.standing, q.watch, q.listening}
	q.watch, q.listening = nil, nil
	if t.standing != nil {
		q.endStanding()
	}
	return t
}

// endAll ends the watch, also one that is only beginning, and gives back what the request that stands may be
// granted.
func (t frontsThings) endAll(q *queue) {
	if t.standing != nil {
		q.client.releaseUnknown(*t.standing.grant(), nil)
	}
	if t.watch != nil {
		t.watch.Close()
	}
	if l := t.listening; l != nil {
		l.stop()
		q.client.work.Go(func() {
			<-l.began
			if l.watch != nil {
				l.watch.Close()
			}
		})
	}
}
