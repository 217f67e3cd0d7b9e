package lock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/internal/outcome"
)

var (
	// errWaited is the cause with which [MutexOptions.Wait] and [DoOptions.Wait] end a wait.
	errWaited = fmt.Errorf("the longest wait has passed%.0w", context.DeadlineExceeded)
	// errEnded says that the wait's context ended, whatever the cause.
	errEnded = errors.New("the wait has ended")
)

// endedError is an errEnded that says why the lock was not had before: a [*HeldError],
// or what the last request had failed with.
type endedError struct{ reason error }

// endedAfter returns the end of a wait for that reason, if it is known.
func endedAfter(reason error) error {
	if reason == nil {
		return errEnded
	}
	return &endedError{reason}
}

func (e *endedError) Error() string        { return errEnded.Error() }
func (e *endedError) Is(target error) bool { return target == errEnded }

// acquire is one Lock or TryLock: queue up, wait for the turn, and then either
// take over what the one before passed on, or contend at the backend.
//
// ctx bounds the wait; parent is the context the lease's own is made from. Over is the owner of a grant of this
// process's that is not in the way, if there is one.
//
// What stands on the stack from here to [queue.awaitTurn] is kept by every parked
// goroutine, and the smallest stack is 2 KB: nothing large belongs there.
func (c *Client) acquire(ctx, parent context.Context, w *want, over string, try bool) (*Lease, error) {
	if c.opts.Observer != nil {
		return c.acquireObserved(ctx, parent, w, over, try)
	}
	start := time.Now()
	lease, err := c.compete(ctx, parent, w, over, try, start)
	if err != nil {
		return nil, describeWait(ctx, w.name, start, err)
	}
	return lease, nil
}

func (c *Client) acquireObserved(
	ctx, parent context.Context, w *want, over string, try bool,
) (*Lease, error) {
	start := time.Now()
	c.observe(parent, Event{Kind: EventQueued, Name: w.name})
	lease, err := c.compete(ctx, parent, w, over, try, start)
	if err != nil {
		err = describeWait(ctx, w.name, start, err)
		c.observe(parent, Event{Kind: EventLeft, Name: w.name, Wait: time.Since(start), Err: err})
		return nil, err
	}
	lease.acquired = time.Now()
	c.observe(parent, Event{
		Kind: EventAcquired, Name: w.name, Owner: lease.Owner(), Token: lease.token, Wait: time.Since(start),
	})
	return lease, nil
}

func (c *Client) compete(
	ctx, parent context.Context, w *want, over string, try bool, start time.Time,
) (*Lease, error) {
	if over == "" {
		if lease := c.withoutAsking(parent, w); lease != nil {
			return lease, nil
		}
	}
	q, behind, err := c.queues.enterQueue(parent, w, over, try, start)
	if err != nil {
		return nil, err
	}
	if behind == nil {
		return q.contend(ctx, parent, w, start, start, try)
	}
	if try {
		return q.tryWhenVacated(ctx, parent, behind)
	}
	t, err := q.awaitTurn(ctx, behind)
	if err != nil || t.lease != nil {
		return t.lease, err
	}
	return q.contend(ctx, parent, w, start, time.Now(), try)
}

// withoutAsking returns a lease of a grant that is in this process, and may be had at once; nil if there is none.
func (c *Client) withoutAsking(parent context.Context, w *want) *Lease {
	switch {
	case w.mode == driver.Exclusive && c.opts.Linger > 0 && !w.fair:
		return c.queues.comeBack(parent, w)
	case w.joinable():
		return c.queues.joinReaders(parent, w)
	default:
		return nil
	}
}

// describeWait turns the end of a wait into the error its user expects: the
// context's if it ended, [ErrHeld] if the longest wait passed.
func describeWait(ctx context.Context, name string, start time.Time, err error) error {
	if !errors.Is(err, errEnded) {
		return err
	}
	var reason error
	if after, ok := errors.AsType[*endedError](err); ok {
		reason = after.reason
	}
	var ended error
	if waitPassed(ctx) {
		ended, reason = waitedInVain(name, reason), nil
	} else {
		ended = waitError(ctx, name, time.Since(start))
	}
	if MaybeApplied(err) && !MaybeApplied(ended) {
		ended = outcome.Unknown(ended)
	}
	switch {
	case reason == nil:
		return ended
	case errors.Is(reason, ErrHeld): // told, but not matched: that is what Wait's end does
		return fmt.Errorf("%w; before that: %w", ended, &outcome.ToldError{Reason: reason})
	default:
		return fmt.Errorf("%w; before that: %w", ended, reason)
	}
}

// waitPassed reports whether a context has ended because the longest wait has passed. That of
// another Lock may be in the cause by which a user has ended it.
func waitPassed(ctx context.Context) bool {
	return context.Cause(ctx) == errWaited //nolint:errorlint // see above
}

// waitedInVain tells the end of the longest wait: the lock is held, unless the backend
// has failed last.
func waitedInVain(name string, reason error) error {
	switch {
	case reason == nil:
		return &HeldError{Name: name}
	case errors.Is(reason, ErrHeld):
		return reason
	default:
		return opError("lock", name, reason)
	}
}
