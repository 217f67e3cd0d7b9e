package redislock

import (
	"context"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// Await runs a call that cannot be interrupted, and does not wait for it longer
// than ctx lasts; see [driver.Await]. It is for those who write a [Conn] for a
// client that does not always heed a context.
func Await[T any](ctx context.Context, call func() (T, error)) (T, error) {
	return driver.Await(ctx, call)
}

// AwaitMany does the same for n calls at once. When ctx ends, that is the result
// of all of them.
func AwaitMany(ctx context.Context, n int, calls func() []Result) []Result {
	results, err := Await(ctx, func() ([]Result, error) { return calls(), nil })
	if err == nil {
		return results
	}
	results = make([]Result, n)
	for i := range results {
		results[i].Err = err
	}
	return results
}
