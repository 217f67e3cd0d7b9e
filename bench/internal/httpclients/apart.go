package httpclients

import (
	"context"
	"net/http"
)

// apart is fasthttp's client in a goroutine of its own for each call, which is how a
// call can be left when its context ends. What was left goes on by itself.
type apart struct{ *fast }

// outcome is what became of a call.
type outcome[T any] struct {
	value T
	err   error
}

func (c apart) Post(ctx context.Context) (Reply, error) {
	return runApart(ctx, func() (Reply, error) { return c.fast.Post(ctx) })
}

func (c apart) Do(r *http.Request) (*http.Response, error) {
	return runApart(r.Context(), func() (*http.Response, error) { return c.fast.Do(r) })
}

func runApart[T any](ctx context.Context, do func() (T, error)) (T, error) {
	done := make(chan outcome[T], 1)
	go func() {
		value, err := do()
		done <- outcome[T]{value, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}
