// Package underway lets a caller leave a call that does not end with its context.
package underway

import (
	"context"

	"github.com/bedrock-go/bedrock/internal/timelimit"
)

// Error is the error of a call that its caller has left behind, and that goes on in
// this process. Its outcome is unknown, whatever Err is.
type Error struct {
	// Err is why the caller has left: its context's error, most often.
	Err error
	// Ended is closed when nothing of the call is under way in this process any more.
	// That must not take for ever, so a call needs a time limit of its own.
	Ended <-chan struct{}
}

// Error implements error.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// Await runs a call, and does not wait for it longer than ctx lasts. What the call
// brings after that is dropped, and the error is an [*Error].
func Await[T any](ctx context.Context, call func() (T, error)) (none T, err error) {
	gone, late := timelimit.Ends(ctx)
	if gone == nil && late == nil {
		return call()
	}
	var outcome struct {
		value T
		err   error
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		outcome.value, outcome.err = call()
	}()
	select {
	case <-ended:
		return outcome.value, outcome.err
	case <-gone:
		return none, &Error{Err: ctx.Err(), Ended: ended}
	case <-late:
		return none, &Error{Err: ctx.Err(), Ended: ended}
	}
}
