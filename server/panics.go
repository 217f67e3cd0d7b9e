package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"

	"connectrpc.com/connect"
)

// recovered answers for a call of the API that panicked.
func recovered(log *slog.Logger) func(context.Context, connect.Spec, http.Header, any) error {
	return func(ctx context.Context, spec connect.Spec, _ http.Header, what any) error {
		logPanic(ctx, log, spec.Procedure, what)
		return connect.NewError(connect.CodeInternal, errInternal)
	}
}

// cutOff ends a request to any other handler that panicked. It breaks the connection,
// because nobody knows how much of an answer was sent, and is to be deferred. It panics
// with the value that net/http does not log.
func (g *gate) cutOff(r *http.Request) {
	what := recover()
	if what == nil {
		return
	}
	if err, ok := what.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
		logPanic(r.Context(), g.logger, r.URL.Path, what)
	}
	panic(http.ErrAbortHandler)
}

func logPanic(ctx context.Context, log *slog.Logger, path string, what any) {
	log.ErrorContext(ctx, "server: panic", "path", path, "panic", what, "stack", string(debug.Stack()))
}
