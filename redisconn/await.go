package redisconn

import (
	"context"

	"github.com/bedrock-go/bedrock/internal/underway"
)

// Await runs a call that does not end with its caller's context, and does not wait
// for it longer than ctx lasts. What the call then brings is dropped, and the error
// is an [*UnderwayError]. It is for those who write a [Conn] for a client that does
// not always heed a context.
func Await[T any](ctx context.Context, call func() (T, error)) (T, error) {
	return underway.Await(ctx, call)
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
