package accounts

import (
	"bytes"
	"context"
	"io"
	"net/http"
)

// Delivery hands a call to a handler, as often as it is made.
type Delivery func(ctx context.Context, w http.ResponseWriter)

// Repeatable lets a network deliver calls more than once, and late. What has arrived is done,
// even if the caller has gone: so the context that a delivery begins with does not end.
func Repeatable(
	next http.Handler, network func(ctx context.Context, w http.ResponseWriter, deliver Delivery),
) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		network(context.WithoutCancel(r.Context()), w, func(ctx context.Context, w http.ResponseWriter) {
			again := r.Clone(ctx)
			again.Body = io.NopCloser(bytes.NewReader(body))
			next.ServeHTTP(w, again)
		})
	})
}
