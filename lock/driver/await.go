package driver

import (
	"context"

	"github.com/bedrock-go/bedrock/internal/underway"
)

// Await runs a call that does not end with its caller's context, and does not wait
// for it longer than ctx lasts. What the call then brings is dropped, and the error
// is an [*UnderwayError], so that whoever cleans up knows when the call has ended.
func Await[T any](ctx context.Context, call func() (T, error)) (T, error) {
	return underway.Await(ctx, call)
}
