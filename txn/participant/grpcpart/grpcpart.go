// Package grpcpart lets a grpc-go server take part in transactions:
//
//	grpc.NewServer(grpc.ChainUnaryInterceptor(grpcpart.Interceptor(nil)))
//
// A handler finds the call in its context (txn.CallFrom) and says with its error what
// became of it:
//
//	nil                OK
//	txn.Abort(err)     ABORTED and the error's text
//	txn.Pending(d)     FAILED_PRECONDITION and the trailer bedrock-retry-after
//	any other error    as it is: the coordinator asks again
//	a panic            INTERNAL; the panic is logged
//
// A status that a handler returns by itself is not touched, and the coordinator takes
// it at its word: whoever passes on the ABORTED of another service refuses.
//
// Calls without a transaction go through as if the interceptor was not there.
package grpcpart

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/participant/header"
)

// Options configure [Interceptor]. The zero value and nil mean the defaults.
type Options struct {
	// Logger is told of panics. Defaults to slog.Default().
	Logger *slog.Logger
}

// Interceptor returns what makes the methods of a server participants. The call in
// the context has no payload: that is the request.
func Interceptor(opts *Options) grpc.UnaryServerInterceptor {
	logger := slog.Default()
	if opts != nil && opts.Logger != nil {
		logger = opts.Logger
	}
	return func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		sent, _ := metadata.FromIncomingContext(ctx)
		call, err := header.Parse(sent)
		switch {
		case errors.Is(err, header.ErrNoCall):
			return next(ctx, req)
		case err != nil:
			return nil, status.Error(codes.InvalidArgument, err.Error())
		}
		response, err := guard(logger, &call, func() (any, error) {
			return next(txn.ContextWithCall(ctx, call), req)
		})
		if err != nil {
			return nil, statusOf(ctx, err)
		}
		return response, nil
	}
}

// guard keeps a panic from ending the server.
func guard(logger *slog.Logger, call *txn.Call, f func() (any, error)) (response any, err error) {
	defer func() {
		value := recover()
		if value == nil {
			return
		}
		logger.Error("participant panicked", "panic", value, "transaction", call.Transaction,
			"branch", call.Branch, "op", call.Op, "stack", string(debug.Stack()))
		err = status.Error(codes.Internal, "the participant panicked")
	}()
	return f()
}

func statusOf(ctx context.Context, err error) error {
	text := header.Excerpt(err.Error())
	if txn.Aborted(err) {
		return status.Error(codes.Aborted, text)
	}
	if pending, ok := errors.AsType[*txn.PendingError](err); ok {
		// Without the trailer the coordinator asks again when it thinks best.
		_ = grpc.SetTrailer(ctx, metadata.Pairs(header.RetryAfter, header.FormatRetryAfter(pending.After)))
		return status.Error(codes.FailedPrecondition, text)
	}
	if errors.Is(err, txn.ErrMalformed) {
		return status.Error(codes.InvalidArgument, text)
	}
	return err
}
