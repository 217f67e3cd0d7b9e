package lock

import (
	"context"
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// How a contender that was refused waits.
const (
	firstPoll   = time.Millisecond       // without a watch: the first pause
	longestPoll = 100 * time.Millisecond // and the longest
	blindPause  = 5 * time.Second        // with a watch, when the holder's time left is not known
	longestWait = 30 * time.Second       // with a watch, at most: it may listen where nobody tells of releases any more
	aMoment     = time.Second            // how long a request may take and not count as unanswered
	heldBack    = 2 * time.Second        // and one that is fair besides: its backend may wait for its turn
	lookAgain   = 5 * time.Second        // a writer asks again before: who reads for longest may not be the last to go
)

// waitToAskAgain passes the time until the next request is worth making.
func (k *contest) waitToAskAgain(ctx context.Context, err error) error {
	if !errors.Is(err, driver.ErrHeld) {
		stopped := k.pauseFor(ctx, k.retryPause(), nil)
		if errors.Is(stopped, errEnded) {
			return k.waitEnded(ctx, err)
		}
		return stopped
	}
	if k.want.fair {
		return k.awaitPlace(ctx, err)
	}
	if k.q.listens() || k.askAgain() {
		return nil // a release may have come before we listened: ask again
	}
	k.refusals++
	left := driver.TimeLeft(err)
	if k.q.watch == nil {
		err := k.pauseFor(ctx, k.q.client.jitter(k.q.deafPause(k.refusals, left)), k.q.hearsSoon())
		k.q.listens() // if a watch has begun meanwhile, the next request comes after it
		return err
	}
	if left == driver.UnknownTTL {
		left = blindPause
	}
	pause := k.keepPlace(k.q.standing.shorten(min(left, longestWait) + time.Millisecond))
	if err := k.pauseFor(ctx, pause, k.q.watch.C()); err != nil {
		return err
	}
	k.othersOut(k.q.client.now())
	return nil
}

// keepPlace shortens the pause of who has something by waiting: it asks again in time.
func (k *contest) keepPlace(pause time.Duration) time.Duration {
	if k.again == 0 {
		return pause
	}
	return min(pause, driver.PauseFor(k.again))
}

// pauseFor waits for a signal, a time, the lock itself, the context, or the client's end.
func (k *contest) pauseFor(ctx context.Context, d time.Duration, signal <-chan struct{}) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-signal:
	case <-timer.C:
	case k.handed = <-k.q.grantsHeard():
	case <-ctx.Done():
		return endedAfter(k.whyNot())
	case <-k.q.client.closed:
		return opError("lock", k.req.Name, ErrClosed)
	}
	return nil
}

// pollPause grows from poll to poll, and never outlasts the holder's lease.
func pollPause(refusals int, left time.Duration) time.Duration {
	d := min(firstPoll<<min(refusals-1, 10), longestPoll)
	if left != driver.UnknownTTL {
		d = min(d, left+time.Millisecond)
	}
	return d
}

// backOff grows from failure to failure: 10 ms up to 640 ms.
func backOff(failures int32) time.Duration {
	return 10 * time.Millisecond << min(failures-1, 6)
}

// jitter spreads a duration over half to one and a half of it, so that
// contenders do not keep step.
func (c *Client) jitter(d time.Duration) time.Duration {
	return d/2 + c.draw(d+1)
}
