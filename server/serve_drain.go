package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"connectrpc.com/connect"

	"github.com/bedrock-go/bedrock/server/auth"
)

type (
	drainKey  struct{}
	writerKey struct{}
)

// withDrain lets calls made with a context know when their server begins to stop.
func withDrain(ctx, drain context.Context) context.Context {
	return context.WithValue(ctx, drainKey{}, drain)
}

// untilDrained ends a context when the server begins to stop, for work that would otherwise
// go on for ever.
func untilDrained(ctx context.Context) (context.Context, context.CancelFunc) {
	drain, ok := ctx.Value(drainKey{}).(context.Context)
	ctx, cancel := context.WithCancelCause(ctx)
	if !ok {
		return ctx, func() { cancel(nil) }
	}
	stop := context.AfterFunc(drain, func() { cancel(errStopping) })
	return ctx, func() { stop(); cancel(nil) }
}

// boundWait bounds a wait by the server's patience, its life, and the rights of its caller.
func boundWait(ctx context.Context, most time.Duration) (context.Context, context.CancelFunc) {
	entitled, leave := auth.UntilRevoked(ctx)
	living, end := untilDrained(entitled)
	bounded, cancel := context.WithTimeoutCause(living, most, errWaitOver)
	return bounded, func() { cancel(); end(); leave() }
}

// Stopping is closed when the server that makes a call begins to stop. A handler of a
// [Mount] ends then what would go on for longer than a call. Without a server it is nil.
func Stopping(ctx context.Context) <-chan struct{} {
	if drain, ok := ctx.Value(drainKey{}).(context.Context); ok {
		return drain.Done()
	}
	return nil
}

var (
	errStopping = errors.New("the server is stopping")
	// errWaitOver is the cause with which the longest wait ends.
	errWaitOver = fmt.Errorf("the wait is over%.0w", context.DeadlineExceeded)
)

// ctxError says why a stream's context has ended; nil if it has not.
func ctxError(ctx context.Context) error {
	switch {
	case ctx.Err() == nil:
		return nil
	case errors.Is(context.Cause(ctx), errStopping):
		return connect.NewError(connect.CodeUnavailable, errStopping)
	case errors.Is(context.Cause(ctx), auth.ErrRevoked):
		return revoked()
	default:
		return connect.NewError(connect.CodeCanceled, ctx.Err())
	}
}

// withWriter keeps what bounds the writes of a stream.
func withWriter(ctx context.Context, w http.ResponseWriter) context.Context {
	return context.WithValue(ctx, writerKey{}, http.NewResponseController(w))
}

// sendWithin sends one message of a stream. A client that does not take it in time
// is cut off, so that it holds nothing up and nothing is kept for it.
func sendWithin(ctx context.Context, most time.Duration, send func() error) error {
	w, ok := ctx.Value(writerKey{}).(*http.ResponseController)
	if !ok {
		return send()
	}
	_ = w.SetWriteDeadline(time.Now().Add(most)) // a writer that knows no deadlines has none
	err := send()
	_ = w.SetWriteDeadline(time.Time{})
	return err
}
