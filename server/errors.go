package server

import (
	"context"
	"errors"
	"log/slog"

	"connectrpc.com/connect"

	"github.com/bedrock-go/bedrock/server/auth"
)

// errInternal is what a client learns of a failure that is none of its business.
var errInternal = errors.New("internal error; the server's log says more")

// translateError is what a client learns of an error: its code in the API, or, of an error
// that has none, only that there is one; the log then says which.
func translateError(ctx context.Context, log *slog.Logger, what string, err error, known *connect.Error) error {
	if known != nil {
		return known
	}
	log.ErrorContext(ctx, "server: "+what, "err", err)
	return connect.NewError(connect.CodeInternal, errInternal)
}

// notServed answers calls of a service that this server does not have.
func notServed(what string) error {
	return connect.NewError(connect.CodeUnimplemented, errors.New("this server has no "+what))
}

// revoked is what a caller is told whose token was taken out during the call.
func revoked() error { return connect.NewError(connect.CodeUnauthenticated, auth.ErrRevoked) }
