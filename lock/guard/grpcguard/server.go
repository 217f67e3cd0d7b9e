package grpcguard

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/bedrock-go/bedrock/lock/guard"
	"github.com/bedrock-go/bedrock/lock/guard/header"
	"github.com/bedrock-go/bedrock/lock/guard/internal/asking"
)

// Options configure the interceptors of a server. The zero value and nil mean the defaults.
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

// UnaryServer returns what lets calls through to their handlers that come with a ticket that is not stale.
func UnaryServer(store guard.Store, opts *Options) grpc.UnaryServerInterceptor {
	c := newChecker(store, opts)
	return func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		setTrailer := func(md metadata.MD) { _ = grpc.SetTrailer(ctx, md) }
		inner, err := c.admitCall(ctx)
		if err != nil {
			return nil, statusOf(err, setTrailer)
		}
		response, err := next(inner, req)
		return response, statusOf(err, setTrailer)
	}
}

// StreamServer does the same for streams, when they begin.
func StreamServer(store guard.Store, opts *Options) grpc.StreamServerInterceptor {
	c := newChecker(store, opts)
	return func(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
		inner, err := c.admitCall(stream.Context())
		if err == nil {
			err = next(srv, serverStream{stream, inner})
		}
		return statusOf(err, stream.SetTrailer)
	}
}

// serverStream is a stream with another context.
type serverStream struct {
	grpc.ServerStream

	ctx context.Context //nolint:containedctx // a stream has one
}

// Context implements [grpc.ServerStream].
func (s serverStream) Context() context.Context { return s.ctx }

type checker struct {
	opts   Options
	asking asking.Asking
}

func newChecker(store guard.Store, opts *Options) *checker {
	c := &checker{}
	if opts != nil {
		c.opts = *opts
	}
	c.asking = asking.Asking{
		Guard: "grpcguard", Store: store, Timeout: c.opts.Timeout, Logger: c.opts.Logger,
	}
	return c
}

// admitCall returns the context of a call that may go on, with its ticket, or without one.
func (c *checker) admitCall(ctx context.Context) (context.Context, error) {
	sent, _ := metadata.FromIncomingContext(ctx)
	ticket, ok, err := header.Parse(sent.Get)
	switch {
	case err != nil:
		return nil, status.Error(codes.InvalidArgument, err.Error())
	case !ok && c.opts.Optional:
		return guard.ContextWithoutTicket(ctx), nil // not what the server has itself
	case !ok:
		return nil, status.Error(codes.FailedPrecondition, "want the metadata "+header.Name+" and "+header.Token)
	}
	err = c.asking.Announce(ctx, ticket)
	if err != nil && !errors.Is(err, guard.ErrStale) {
		err = status.Error(codes.Unavailable, "the lock's token cannot be checked now; nothing was done")
	}
	return guard.ContextWithTicket(ctx, ticket), err
}

// statusOf makes a status of a refusal, which may be the handler's own.
func statusOf(err error, setTrailer func(metadata.MD)) error {
	stale, ok := errors.AsType[*guard.StaleError](err)
	if !ok {
		return err
	}
	details := metadata.MD{}
	header.WriteStale(stale, func(name, value string) { details.Set(name, value) })
	setTrailer(details)
	return status.Error(codes.FailedPrecondition, stale.Error())
}
