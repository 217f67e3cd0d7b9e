package lock

import (
	"context"
	"errors"
	"fmt"
	"time"
)

var (
	// errWaited is the cause with which [MutexOptions.Wait] ends a wait.
	errWaited = errors.New("the longest wait has passed")
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
// ctx bounds the wait; parent is the context the lease's own is made from.
//
// What stands on the stack from here to [queue.await] is kept by every parked
// goroutine, and the smallest stack is 2 KB: nothing large belongs there.
func (c *Client) acquire(ctx, parent context.Context, m *Mutex, try bool) (*Lease, error) {
	if c.opts.Observer != nil {
		return c.acquireObserved(ctx, parent, m, try)
	}
	start := time.Now()
	lease, err := c.compete(ctx, parent, m, try, start)
	if err != nil {
		return nil, describeWait(ctx, parent, m.name, start, err)
	}
	return lease, nil
}

func (c *Client) acquireObserved(ctx, parent context.Context, m *Mutex, try bool) (*Lease, error) {
	start := time.Now()
	c.observe(parent, Event{Kind: EventQueued, Name: m.name})
	lease, err := c.compete(ctx, parent, m, try, start)
	if err != nil {
		err = describeWait(ctx, parent, m.name, start, err)
		c.observe(parent, Event{Kind: EventLeft, Name: m.name, Wait: time.Since(start), Err: err})
		return nil, err
	}
	lease.acquired = time.Now()
	c.observe(parent, Event{
		Kind: EventAcquired, Name: m.name, Owner: lease.Owner(), Token: lease.token, Wait: time.Since(start),
	})
	return lease, nil
}

func (c *Client) compete(ctx, parent context.Context, m *Mutex, try bool, start time.Time) (*Lease, error) {
	q, w, err := c.queues.enter(parent, m, try, start)
	if err != nil {
		return nil, err
	}
	if w == nil {
		return q.contend(ctx, parent, m, time.Time{}, try)
	}
	t, err := q.await(ctx, w)
	if err != nil || t.lease != nil {
		return t.lease, err
	}
	return q.contend(ctx, parent, m, w.since, try)
}

// describeWait turns the end of a wait into the error its user expects: the
// context's if it ended, [ErrHeld] if the longest wait passed.
func describeWait(ctx, parent context.Context, name string, start time.Time, err error) error {
	if !errors.Is(err, errEnded) {
		return err
	}
	var reason error
	if after, ok := errors.AsType[*endedError](err); ok {
		reason = after.reason
	}
	if parent.Err() == nil && errors.Is(context.Cause(ctx), errWaited) {
		return waitedInVain(name, reason)
	}
	ended := waitError(ctx, name, time.Since(start))
	switch {
	case reason == nil:
		return ended
	case errors.Is(reason, ErrHeld): // told, but not matched: that is what Wait's end does
		return fmt.Errorf("%w; before that: %v", ended, reason) //nolint:errorlint // see above
	default:
		return fmt.Errorf("%w; before that: %w", ended, reason)
	}
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
