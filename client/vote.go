package client

import (
	"context"
	"errors"
	"fmt"

	"connectrpc.com/connect"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/internal/apiwire"
	"github.com/bedrock-go/bedrock/lock/driver"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
)

// neverHeardOfVotes tells of a server that does not know what is asked of one of several stores. It would ignore it, so
// the request has a mode then that such a server refuses, as a mistake.
func neverHeardOfVotes(req *driver.Request, err error) error {
	if wrong, ok := errors.AsType[*input.Error](err); ok && req.IsVote() && wrong.Field == "mode" {
		return fmt.Errorf("acquire %q: %w: the server has not heard of above and age", req.Name, driver.ErrUnsupported)
	}
	return err
}

// Identity implements [driver.Identifier]: that of the server's store, whichever server is asked. One that has not
// heard of the question cannot tell.
func (b *backend) Identity(ctx context.Context) (string, error) {
	res, err := twice(ctx, b.client, b.client.locks.Identify, &bedrockv1.IdentifyRequest{})
	if err == nil {
		return res.GetIdentity(), nil
	}
	return "", newerError("identify", "", err)
}

// newerError is lockError for a call that a server may not have heard of.
func newerError(what, name string, err error) error {
	if neverHeardOf(err) {
		return fmt.Errorf("%s %q: %w: %w", what, name, driver.ErrUnsupported, withoutCode(err))
	}
	return lockError(what, name, err)
}

// neverHeardOf reports whether a server of ours has answered that it does not have the call.
func neverHeardOf(err error) bool {
	said, _ := apiwire.LockErrorOf(err)
	return !said && connect.IsWireError(err) && connect.CodeOf(err) == connect.CodeUnimplemented
}
