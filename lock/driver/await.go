package driver

import "context"

// Await runs a call that does not end with its caller's context, and does not wait
// for it longer than ctx lasts. What the call then brings is dropped, and the error
// is an [*UnderwayError], so that whoever cleans up knows when the call has ended.
func Await[T any](ctx context.Context, call func() (T, error)) (T, error) {
	if ctx.Done() == nil {
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
	case <-ctx.Done():
		var none T
		return none, &UnderwayError{Err: ctx.Err(), Ended: ended}
	}
}
