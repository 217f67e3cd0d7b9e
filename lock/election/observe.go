package election

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/internal/attempt"
	"github.com/bedrock-go/bedrock/lock/internal/listen"
)

// How often an observer looks. What it costs is told in the package's comment.
const (
	firstLook     = 5 * time.Millisecond   // when there is no leader: the first pause
	firstRetry    = 100 * time.Millisecond // when the backend fails
	longestLook   = time.Second            // and the longest of both; and where the store tells nothing
	lookAnyway    = 5 * time.Second        // where it does, and there is a leader
	shortestPause = 100 * time.Millisecond // on average, for a leader whose TTL is short
)

// Observe yields the present leader, one without an Owner if there is none, and then every change that it sees: another
// leader, another term, or none. What is seen how soon, and what it costs, is told in the package's comment.
//
// A backend that fails is told once, by an error without a leader; Observe goes on, and when the backend answers again
// it yields the leader it finds, also if that is the one before. It ends when ctx does, silently; with
// [lock.ErrClosed] when the client is stopped, and with [lock.ErrUnsupported] or [lock.ErrInvalid] at once. When the
// consumer breaks off, nothing is left behind.
func (e *Election) Observe(ctx context.Context) iter.Seq2[Leader, error] {
	return func(yield func(Leader, error) bool) {
		if err := e.usable(ctx); err != nil {
			if ctx == nil || ctx.Err() == nil {
				yield(Leader{}, err)
			}
			return
		}
		o := &observer{election: e, ear: listen.Start(e.locks, e.name, driver.Mutex), yield: yield}
		defer o.ear.Close()
		for o.readAndYield(ctx) {
			// Whatever else ends the pause is seen by the next look.
			_ = attempt.Pause(ctx, e.locks, o.pauseBeforeLook(), o.heard())
		}
	}
}

// observer is one Observe that goes on.
type observer struct {
	election *Election
	ear      *listen.Ear
	yield    func(Leader, error) bool

	seen     Leader // what was seen last
	told     bool   // it was yielded, and no error since
	failures int    // of the backend, in a row
	vacant   int    // how often there was no leader, in a row

	paused time.Duration // before the last look
}

// readAndYield looks who leads, and yields what is new. It reports whether to go on.
func (o *observer) readAndYield(ctx context.Context) bool {
	leader, err := o.election.readLeader(ctx)
	switch {
	case ctx.Err() != nil:
		return false
	case errors.Is(err, ErrNoLeader):
		leader, err = Leader{Name: o.election.name}, nil
	case errors.Is(err, lock.ErrClosed), errors.Is(err, lock.ErrUnsupported), errors.Is(err, lock.ErrInvalid):
		o.yield(Leader{}, err)
		return false
	}
	if err != nil {
		o.told = false
		o.failures++
		return o.failures > 1 || o.yield(Leader{}, err)
	}
	o.failures = 0
	if o.vacant++; leader.Owner != "" {
		o.vacant = 0
	}
	isNew := !o.told || !leader.isSameTerm(&o.seen)
	o.seen, o.told = leader, true
	return !isNew || o.yield(leader, nil)
}

// pauseBeforeLook is how long to wait until the next look, if nothing is heard.
func (o *observer) pauseBeforeLook() time.Duration {
	switch {
	case o.failures > 0:
		o.paused = o.spreadPause(growing(firstRetry, o.failures))
	case o.vacant > 0:
		o.paused = o.spreadPause(growing(firstLook, o.vacant))
	default:
		o.paused = o.pauseWhileLed()
	}
	return o.paused
}

// pauseWhileLed is that while somebody leads. Nobody tells that a leader's time is up, so that is looked for as soon
// as it is: at once if the look before it was long ago, so that there are not many of them.
func (o *observer) pauseWhileLed() time.Duration {
	pause := longestLook
	if o.ear.Hears() {
		pause = lookAnyway
	}
	pause = o.spreadPause(pause)
	if o.seen.TTL < 0 {
		return pause
	}
	least := max(2*shortestPause-o.paused, firstLook)
	return min(pause, max(o.seen.TTL+firstLook, least))
}

// heard returns what is heard. A backend that fails is not asked more often for it: who listens is woken again and
// again while the connection is broken.
func (o *observer) heard() <-chan struct{} {
	if o.failures > 0 {
		return nil
	}
	return o.ear.C()
}

// growing returns the pause of that number: twice as long each time.
func growing(first time.Duration, number int) time.Duration {
	return min(first<<min(number-1, 10), longestLook)
}

// spreadPause varies a pause by a quarter of it, so that observers do not look all at once.
func (o *observer) spreadPause(d time.Duration) time.Duration {
	return d - d/4 + o.election.draw(d/2+1)
}
