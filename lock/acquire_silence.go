package lock

import (
	"errors"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/internal/outcome"
)

// silence is the error of requests that got no answer. The error of one before may say why, such
// as replicas that are not there, and is told as well.
type silence struct {
	waited    time.Duration
	last      error // before nothing was answered any more, or
	meanwhile bool  // since then, of a request that was not answered either
}

// silenceAfter returns the silence that follows a failure, or goes on after it.
func silenceAfter(failure error) *silence {
	if before, ok := errors.AsType[*silence](failure); ok {
		return &silence{last: before.last, meanwhile: before.meanwhile}
	}
	return &silence{last: failure, meanwhile: !isAnswer(failure)}
}

// isAnswer reports whether a request that failed with err was answered, if only by why it cannot be:
// it was not given up, nor broken off, and it is known what became of it.
func isAnswer(err error) bool {
	_, silent := errors.AsType[*silence](err)
	return !silent && !outcome.IsContextError(err) &&
		(errors.Is(err, driver.ErrUnavailable) || errors.Is(err, driver.ErrRefused))
}

// Error implements error.
func (e *silence) Error() string {
	unit := time.Millisecond
	if e.waited < unit {
		unit = time.Microsecond
	}
	text := fmt.Sprintf("no answer in %s", e.waited.Round(unit))
	switch {
	case e.last == nil:
		return text
	case e.meanwhile:
		return text + "; meanwhile: " + e.last.Error()
	default:
		return text + "; before that: " + e.last.Error()
	}
}

// Is reports whether target is [driver.ErrUnavailable].
func (e *silence) Is(target error) bool { return target == driver.ErrUnavailable }

// Unwrap returns the last error that a request had of its own.
func (e *silence) Unwrap() error { return e.last }

// beginSilence enters that the one at the front has asked.
func (q *queue) beginSilence(sent time.Duration) {
	if q.unheard.Load() == 0 {
		q.unheard.Store(int64(max(sent, 1)))
	}
}

// endSilence enters that it was answered.
func (q *queue) endSilence() { q.unheard.Store(0) }

// silentFor is for how long the one at the front, or those before it, have asked without an answer.
func (q *queue) silentFor() time.Duration {
	asked := time.Duration(q.unheard.Load())
	if asked == 0 {
		return 0
	}
	return q.client.now() - asked
}

// unlessSilent returns why the lock was not had, to who came at that time: where the backend was silent for
// more than a moment since, nobody knows whether the lock is still held.
func (q *queue) unlessSilent(why error, came time.Time) error {
	moment := aMoment
	if q.fair {
		moment += heldBack
	}
	if silent := q.silentFor(); silent >= moment && (why == nil || errors.Is(why, ErrHeld)) {
		return &silence{waited: min(silent, time.Since(came))}
	}
	return why
}
