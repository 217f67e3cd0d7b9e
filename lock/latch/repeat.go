package latch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/internal/attempt"
)

const (
	firstPause   = 10 * time.Millisecond  // before a call that has failed is repeated
	longestPause = 640 * time.Millisecond // and after several failures
	leastAnswer  = 250 * time.Millisecond // how long one answer is waited for at least, however late the request is
)

// repeatCall makes a call until it is answered, its patience or its context is over, or the client is stopped. It
// reports of one that has failed whether it may have taken effect. The store recognises it, however often it is made.
func repeatCall[T any](
	ctx context.Context, l *Latch, call func(ctx context.Context) (T, error),
) (none T, unknown bool, err error) {
	began := time.Now()
	var cause error // what a try was told last: time that has cut off one after it tells nothing
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		value, failure := attempt.Once(ctx, l.locks, l.timeForAnswer(began), call)
		switch {
		case failure == nil:
			return value, false, nil
		case isAnswer(failure.Err):
			return none, unknown && !isOfTheState(failure.Err), failure.Err
		}
		unknown = unknown || failure.Unknown
		if !failure.CutOff {
			cause = failure.Err
		}
		left := l.patience - time.Since(began)
		switch {
		case ctx.Err() != nil || attempt.IsStopped(l.locks):
			left = 0
		case l.patience == -1 || left <= 0:
			return none, unknown, afterCause(failure, cause)
		}
		if ended := attempt.Pause(ctx, l.locks, min(l.spreadPause(pause), left), nil); ended != nil {
			return none, unknown, endedAfter(began, ended, cause)
		}
	}
}

// timeForAnswer is how long the next answer is waited for: no longer than the patience, but a healthy backend is to
// have the time to answer.
func (l *Latch) timeForAnswer(began time.Time) time.Duration {
	if l.patience == -1 {
		return l.answer
	}
	left := l.patience - time.Since(began)
	return min(l.answer, max(left, min(leastAnswer, l.answer)))
}

// spreadPause varies a pause by half of it, so that those who failed together do not come back together.
func (l *Latch) spreadPause(d time.Duration) time.Duration { return d/2 + l.draw(d+1) }

// isAnswer reports whether the store has answered for good: asking again would not help.
func isAnswer(err error) bool {
	return errors.Is(err, driver.ErrRefused) || errors.Is(err, lock.ErrInvalid)
}

// isOfTheState reports whether an answer tells what the store has looked at: had a request before it been carried
// out, whose answer was lost, then that would have been said once more.
func isOfTheState(err error) bool {
	return errors.Is(err, ErrBelowZero) || errors.Is(err, driver.ErrKind)
}

// afterCause says how the last try of a call has failed, and what one before it was told if it was told nothing itself.
func afterCause(failure *attempt.Failure, cause error) error {
	if !failure.CutOff || cause == nil {
		return failure.Err
	}
	return fmt.Errorf("%w; before that: %w", failure.Err, cause)
}

// endedAfter says why a call has come to its end before the backend has answered, and what a try was told last.
func endedAfter(began time.Time, ended, cause error) error {
	waited := time.Since(began).Round(time.Microsecond)
	if cause == nil { // no try had an answer
		return fmt.Errorf("no answer in %s: %w", waited, ended)
	}
	return fmt.Errorf("waited %s: %w; before that: %w", waited, ended, cause)
}
