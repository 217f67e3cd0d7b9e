package latch

import (
	"context"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/internal/chance"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/internal/attempt"
	"github.com/bedrock-go/bedrock/lock/internal/outcome"
)

// MaxCount is the highest count of a latch.
const MaxCount = driver.MaxCount

// ErrBelowZero says that a latch would be counted down below zero: nothing was taken. The error is a [*CountError].
var ErrBelowZero = driver.ErrBelowZero

// CountError is the refusal to count a latch down by more than is left. It matches [ErrBelowZero].
type CountError = driver.CountError

// Latch is a count that many wait for to come down to zero. It holds no state: two Latches of one name are one, in
// one process as between processes.
//
// A Latch is safe for concurrent use.
type Latch struct {
	locks    *lock.Client
	name     string
	patience time.Duration
	answer   time.Duration // how long one answer is waited for
	draw     chance.Draw
	err      error // why the latch cannot be used
}

// New returns the latch of that name. What is wrong with the client, the name or the options is reported by its
// methods, before any call to the backend.
func New(locks *lock.Client, name string, opts *Options) *Latch {
	filled, err := opts.withDefaults()
	l := &Latch{
		locks: locks, name: name, patience: filled.Patience, err: err,
		answer: (&lock.Options{Patience: filled.Patience}).AnswerTime(),
	}
	switch {
	case locks == nil:
		l.err = &lock.InvalidError{Field: "locks", Problem: "is nil"}
	case err == nil:
		l.err = driver.CheckName(name)
	}
	if l.err == nil {
		l.draw = chance.Of(locks.Backend())
	}
	return l
}

// Name returns the latch's name.
func (l *Latch) Name() string { return l.name }

// Set gives the latch its count, 1 to [MaxCount], if it is not there. It reports whether it was not: a latch that is
// there goes on with the count it has.
//
// What the errors of all calls say is told in the package's comment.
func (l *Latch) Set(ctx context.Context, count int) (bool, error) {
	backend, err := l.usable(ctx, driver.CheckCount("count", count))
	if err != nil {
		return false, err
	}
	id := newID()
	return change(ctx, l, "set", func(ctx context.Context) (bool, error) {
		return backend.SetLatch(ctx, l.name, id, count)
	})
}

// CountDown takes 1 from the count, and returns what is left. At zero the latch is open, and gone; one that is not
// there cannot be counted down: that is [ErrBelowZero].
func (l *Latch) CountDown(ctx context.Context) (left int, err error) { return l.CountDownBy(ctx, 1) }

// CountDownBy takes n from the count, and returns what is left. If less than that is left it takes nothing, and fails
// with [ErrBelowZero].
func (l *Latch) CountDownBy(ctx context.Context, n int) (left int, err error) {
	backend, err := l.usable(ctx, driver.CheckCount("n", n))
	if err != nil {
		return 0, err
	}
	id := newID()
	return change(ctx, l, "count down", func(ctx context.Context) (int, error) {
		return backend.CountDown(ctx, l.name, id, n)
	})
}

// Count returns what is left of the count, 0 if the latch is not there.
func (l *Latch) Count(ctx context.Context) (int, error) {
	backend, err := l.usable(ctx, nil)
	if err != nil {
		return 0, err
	}
	return l.countLeft(ctx, backend, "count")
}

// Drop opens the latch, whatever is left. It reports whether there was one. A Drop that had to be repeated, since it
// had no answer, may not know: then it may report that there was none, though it has dropped it.
func (l *Latch) Drop(ctx context.Context) (bool, error) {
	backend, err := l.usable(ctx, nil)
	if err != nil {
		return false, err
	}
	return change(ctx, l, "drop", func(ctx context.Context) (bool, error) {
		return backend.DropLatch(ctx, l.name)
	})
}

// countLeft reads the count, for what op does.
func (l *Latch) countLeft(ctx context.Context, backend driver.Latches, op string) (int, error) {
	left, _, err := repeatCall(ctx, l, func(ctx context.Context) (int, error) {
		return backend.LatchCount(ctx, l.name)
	})
	if err != nil {
		return 0, l.opError(op, err)
	}
	return left, nil
}

// change makes a change of the latch, and says of one that has failed whether it may have been made.
func change[T any](
	ctx context.Context, l *Latch, op string, call func(ctx context.Context) (T, error),
) (none T, err error) {
	value, unknown, err := repeatCall(ctx, l, call)
	switch {
	case err == nil:
		return value, nil
	case unknown:
		err = outcome.Unknown(err)
	}
	return none, l.opError(op, err)
}

// usable reports what is wrong before anything happens.
func (l *Latch) usable(ctx context.Context, wrong error) (driver.Latches, error) {
	switch {
	case ctx == nil:
		return nil, &lock.InvalidError{Field: "ctx", Problem: "is nil"}
	case l.err != nil:
		return nil, l.err
	case wrong != nil:
		return nil, wrong
	case attempt.IsStopped(l.locks):
		return nil, fmt.Errorf("latch %q: %w", l.name, lock.ErrClosed)
	}
	backend, ok := l.locks.Backend().(driver.Latches)
	if !ok {
		return nil, fmt.Errorf("latch %q: %w: the backend has no latches", l.name, lock.ErrUnsupported)
	}
	if ctx.Err() != nil {
		return nil, l.opError("not asked", outcome.ContextError(ctx))
	}
	return backend, nil
}

func (l *Latch) opError(op string, err error) error {
	return fmt.Errorf("latch %q: %s: %w", l.name, op, err)
}
