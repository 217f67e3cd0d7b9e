// Package attempt makes single calls of a client's backend, for the packages that make something of it beside locks:
// a call waits for its answer no longer than that is worth, and ends when the client is stopped.
package attempt

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/internal/settle"
	"github.com/bedrock-go/bedrock/internal/timelimit"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/internal/outcome"
)

// Failure is why a call has not had its answer.
type Failure struct {
	// Err matches the end of a context only if that of the caller's has come, and then its cause, too; [lock.ErrClosed]
	// when the client was stopped.
	Err error
	// Unknown says that the call may have taken effect, or may still do so.
	Unknown bool
	// CutOff says that time, or the client's end, has cut the call off: the backend has said nothing.
	CutOff bool
}

// Once makes one call, and waits for its answer for so long.
func Once[T any](
	ctx context.Context, locks *lock.Client, limit time.Duration, call func(ctx context.Context) (T, error),
) (T, *Failure) {
	bound, free := context.WithTimeout(context.Background(), limit)
	defer free()
	go func() {
		select {
		case <-locks.Done():
			free()
		case <-bound.Done():
		}
	}()
	var both timelimit.Context // which tells the backend no deadline but the caller's
	both.Begin(ctx, bound)
	defer both.End()
	sent := time.Now()
	value, err := call(&both)
	if err == nil {
		return value, nil
	}
	failure := &Failure{Err: outcome.NotTheCallersEnd(ctx, err), Unknown: !settle.NothingHappened(err)}
	failure.CutOff = true
	switch {
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		failure.Err = outcome.ContextError(ctx)
	case IsStopped(locks):
		failure.Err = lock.ErrClosed
	case bound.Err() != nil && ctx.Err() == nil && outcome.IsContextError(err):
		failure.Err = &silence{time.Since(sent)}
	default:
		failure.CutOff = false
	}
	return value, failure
}

// IsStopped reports whether the client was stopped.
func IsStopped(locks *lock.Client) bool {
	select {
	case <-locks.Done():
		return true
	default:
		return false
	}
}

// Pause waits for d, or a signal. It says why not to go on: the end of ctx with its cause, or [lock.ErrClosed].
func Pause(ctx context.Context, locks *lock.Client, d time.Duration, signal <-chan struct{}) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-signal:
	case <-ctx.Done():
	case <-locks.Done():
	}
	switch { // several may have come at once
	case ctx.Err() != nil:
		return outcome.ContextError(ctx)
	case IsStopped(locks):
		return lock.ErrClosed
	}
	return nil
}

// silence is the error of a call that had no answer.
type silence struct{ waited time.Duration }

// Error implements error.
func (e *silence) Error() string {
	return fmt.Sprintf("no answer in %s", e.waited.Round(time.Millisecond))
}

// Is reports whether target is [driver.ErrUnavailable].
func (e *silence) Is(target error) bool { return target == driver.ErrUnavailable }
