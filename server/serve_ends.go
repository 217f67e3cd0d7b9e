package server

import (
	"context"
	"net/http"
	"time"

	"connectrpc.com/connect"
)

// boundEnds bounds how long a client may take to read the end of a stream, also of one that is
// refused: it is written when the procedure has returned, after all that sendWithin bounds.
type boundEnds struct{ most time.Duration }

// WrapUnary implements [connect.Interceptor].
func (boundEnds) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc { return next }

// WrapStreamingClient implements [connect.Interceptor].
func (boundEnds) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

// WrapStreamingHandler implements [connect.Interceptor].
func (b boundEnds) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, conn connect.StreamingHandlerConn) error {
		err := next(ctx, conn)
		if w, ok := ctx.Value(writerKey{}).(*http.ResponseController); ok {
			_ = w.SetWriteDeadline(time.Now().Add(b.most)) // a writer that knows no deadlines has none
		}
		return err
	}
}
