package connectguard

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"connectrpc.com/connect"

	"github.com/bedrock-go/bedrock/lock/guard"
	"github.com/bedrock-go/bedrock/lock/guard/header"
	"github.com/bedrock-go/bedrock/lock/guard/internal/asking"
)

// Options configure [Server]. The zero value and nil mean the defaults.
type Options struct {
	// Optional lets calls through that have no ticket: they have none in their context, either, whatever the server
	// has. By default they are refused.
	Optional bool
	// Timeout is for how long the store is asked about a call; then that is refused, as when the store fails. One in
	// a database waits for whoever has checked there and not ended his transaction. Defaults to 5 s; with -1 only
	// the call's own context ends it.
	Timeout time.Duration
	// Logger is told when the store does not answer, though whoever asks still waits. Defaults to slog.Default().
	Logger *slog.Logger
}

// Server returns what lets calls through to their handlers that come with a ticket that is not stale; streams are
// checked when they begin.
func Server(store guard.Store, opts *Options) connect.Interceptor {
	s := &server{}
	if opts != nil {
		s.opts = *opts
	}
	s.asking = asking.Asking{
		Guard: "connectguard", Store: store, Timeout: s.opts.Timeout, Logger: s.opts.Logger,
	}
	return s
}

type server struct {
	opts   Options
	asking asking.Asking
}

// WrapUnary implements [connect.Interceptor].
func (s *server) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
		if request.Spec().IsClient {
			return next(ctx, request)
		}
		inner, err := s.admitCall(ctx, request.Header())
		if err != nil {
			return nil, errorOf(err)
		}
		response, err := next(inner, request)
		if err != nil {
			return nil, errorOf(err)
		}
		return response, nil
	}
}

// WrapStreamingHandler implements [connect.Interceptor].
func (s *server) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, stream connect.StreamingHandlerConn) error {
		inner, err := s.admitCall(ctx, stream.RequestHeader())
		if err == nil {
			err = next(inner, stream)
		}
		return errorOf(err)
	}
}

// WrapStreamingClient implements [connect.Interceptor]. It is not for clients.
func (s *server) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

// admitCall returns the context of a call that may go on, with its ticket, or without one.
func (s *server) admitCall(ctx context.Context, sent http.Header) (context.Context, error) {
	ticket, ok, err := header.Parse(sent.Values)
	switch {
	case err != nil:
		return nil, connect.NewError(connect.CodeInvalidArgument, err)
	case !ok && s.opts.Optional:
		return guard.ContextWithoutTicket(ctx), nil // not what the server has itself
	case !ok:
		return nil, connect.NewError(connect.CodeFailedPrecondition,
			errors.New("want the headers "+header.Name+" and "+header.Token))
	}
	err = s.asking.Announce(ctx, ticket)
	if err != nil && !errors.Is(err, guard.ErrStale) {
		err = connect.NewError(connect.CodeUnavailable,
			errors.New("the lock's token cannot be checked now; nothing was done"))
	}
	return guard.ContextWithTicket(ctx, ticket), err
}

// errorOf makes an answer of a refusal, which may be the handler's own.
func errorOf(err error) error {
	stale, ok := errors.AsType[*guard.StaleError](err)
	if !ok {
		return err
	}
	answer := connect.NewError(connect.CodeFailedPrecondition, stale)
	header.WriteStale(stale, answer.Meta().Set)
	return answer
}
