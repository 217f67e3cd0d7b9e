// Package connectpart lets connect handlers take part in transactions, over gRPC:
//
//	connect.WithInterceptors(connectpart.Interceptor())
//
// It does what package grpcpart does for grpc-go. Panics are left to
// connect.WithRecover.
package connectpart

import (
	"context"
	"errors"

	"connectrpc.com/connect"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/participant/header"
)

// Interceptor returns what makes unary methods participants. The call in the context
// has no payload: that is the request. Calls without a transaction go through.
func Interceptor() connect.UnaryInterceptorFunc {
	return func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
			if request.Spec().IsClient {
				return next(ctx, request)
			}
			call, err := header.Parse(request.Header())
			switch {
			case errors.Is(err, header.ErrNoCall):
				return next(ctx, request)
			case err != nil:
				return nil, connect.NewError(connect.CodeInvalidArgument, err)
			}
			response, err := next(txn.ContextWithCall(ctx, call), request)
			if err != nil {
				return nil, errorOf(err)
			}
			return response, nil
		}
	}
}

func errorOf(err error) error {
	if txn.Aborted(err) {
		return connect.NewError(connect.CodeAborted, excerpt(err))
	}
	if pending, ok := errors.AsType[*txn.PendingError](err); ok {
		answer := connect.NewError(connect.CodeFailedPrecondition, excerpt(err))
		answer.Meta().Set(header.RetryAfter, header.FormatRetryAfter(pending.After))
		return answer
	}
	if errors.Is(err, txn.ErrMalformed) {
		return connect.NewError(connect.CodeInvalidArgument, excerpt(err))
	}
	return err
}

func excerpt(err error) error { return errors.New(header.Excerpt(err.Error())) }
