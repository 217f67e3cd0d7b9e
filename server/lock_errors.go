package server

import (
	"context"
	"errors"
	"fmt"

	"connectrpc.com/connect"

	"github.com/bedrock-go/bedrock/internal/apiwire"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/server/auth"
)

// storeLacks says what cannot be done with the locks that this server has.
func storeLacks(capability string) error {
	return fmt.Errorf("%w: what this server keeps its locks in has no %s", driver.ErrUnsupported, capability)
}

// translate words an error for the client, and logs what the client is not told. A store that
// says nothing of what is left behind leaves open whether the call has taken effect.
func (l *locks) translate(ctx context.Context, what string, err error) error {
	return l.translateOr(ctx, what, err, apiwire.LockDoubt())
}

// translateRead is translate for calls that change nothing, of which nothing can be in doubt.
func (l *locks) translateRead(ctx context.Context, what string, err error) error {
	return l.translateOr(ctx, what, err, apiwire.LockUnanswered())
}

func (l *locks) translateOr(ctx context.Context, what string, err error, unknown *connect.Error) error {
	if errors.Is(err, auth.ErrRevoked) {
		return revoked()
	}
	if known := apiwire.LockError(err); known != nil {
		return known
	}
	l.log.ErrorContext(ctx, "server: "+what, "err", err)
	return unknown
}
