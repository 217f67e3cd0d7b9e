package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/internal/apiwire"
	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/txn"
)

// The pauses between repeated calls.
const (
	firstPause   = 20 * time.Millisecond
	longestPause = time.Second
)

// leastAttempt is what a call is given at least, however little patience is left: a server
// that is there answers in less.
const leastAttempt = time.Second

// effect is what a failed call has left behind.
type effect uint8

const (
	answered effect = iota // the server has answered: asking again is no use
	nothing                // it certainly did nothing: ask again
	unknown                // it may have taken effect
)

// effectOf says what a failed call has left behind, and what its error means.
func effectOf(err error) (effect, error) {
	said, meant := apiwire.TransactionErrorOf(err)
	switch {
	case errors.Is(meant, txn.ErrUnavailable) || errors.Is(meant, txn.ErrClosed):
		return nothing, meant
	case said:
		return answered, meant
	case unsent(err):
		return nothing, withoutCode(err)
	case unknownThere(err):
		return nothing, fmt.Errorf("%w: %w", errNoAPI, withoutCode(err))
	default:
		return transportEffect(err), err
	}
}

// transportEffect says what has become of a request that may have been sent, by an error that
// is not the service's own.
func transportEffect(err error) effect {
	if !connect.IsWireError(err) {
		return unknown
	}
	switch connect.CodeOf(err) {
	case connect.CodeUnauthenticated, connect.CodePermissionDenied, connect.CodeInvalidArgument,
		connect.CodeUnimplemented, connect.CodeResourceExhausted: // a message that is too large
		return answered
	default:
		return unknown
	}
}

// unsent reports whether there was no connection to send anything over, or none that is safe.
func unsent(err error) bool {
	if e, ok := errors.AsType[*net.OpError](err); ok && e.Op == "dial" {
		return true
	}
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	return untrusted
}

// errNoAPI tells that something else than a server of ours has answered.
var errNoAPI = errors.New("there is no Bedrock API at this address")

// unknownThere reports whether whoever answered does not know the path, by HTTP's 404. It has
// done nothing, and if it is a proxy it may know the path in a moment.
func unknownThere(err error) bool {
	return connect.CodeOf(err) == connect.CodeUnimplemented && !connect.IsWireError(err)
}

// withoutCode takes off the code that connect puts before the error of a request that did
// not reach a server of ours: what wraps the error says the same.
func withoutCode(err error) error {
	if e, ok := errors.AsType[*connect.Error](err); ok {
		return e.Unwrap()
	}
	return err
}

// callRepeatedly makes a call, and makes it again while the server does not answer. It must
// be one that may be repeated. Doubt says that it may have taken effect although it failed:
// the answer to the last attempt, perhaps a refusal, says nothing about those before it.
func callRepeatedly[Req, Res any](
	ctx context.Context, c *Client, do func(context.Context, *Req) (*Res, error), req *Req,
) (res *Res, doubt bool, err error) {
	if err := checkContext(ctx); err != nil {
		return nil, false, err
	}
	var since time.Time
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		res, err := do(ctx, req)
		if err == nil {
			return res, false, nil
		}
		left, err := effectOf(err)
		if left == answered {
			return nil, doubt, err
		}
		if problem := unfit(req); problem != nil {
			return nil, false, problem
		}
		doubt = doubt || left == unknown
		if since.IsZero() || errors.Is(err, errUnheard) { // whose try has its own bounds
			since = time.Now()
		}
		if errors.Is(err, errSilent) || time.Since(since) >= c.patience || !sleep.For(ctx, jittered(pause)) {
			return nil, doubt, givenUp(ctx, err, doubt)
		}
	}
}

// checkContext refuses a context that is nil, with which others would panic.
func checkContext(ctx context.Context) error {
	if ctx == nil {
		return input.Errorf("ctx", "is nil")
	}
	return nil
}

// unfit says why a request cannot be sent at all.
func unfit(req any) error {
	m, ok := req.(proto.Message)
	if !ok {
		return nil
	}
	if _, err := proto.Marshal(m); err != nil {
		return &txn.InvalidError{Field: "request", Problem: err.Error()}
	}
	return nil
}

// errDoubt marks a call that may have taken effect.
var errDoubt = errors.New("no answer")

// givenUp is the error of a call that was given up.
func givenUp(ctx context.Context, err error, doubt bool) error {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if doubt {
		return fmt.Errorf("%w: %w", errDoubt, err)
	}
	if errors.Is(err, txn.ErrUnavailable) || errors.Is(err, txn.ErrClosed) {
		return err
	}
	return fmt.Errorf("%w: %w", txn.ErrUnavailable, err)
}

// decide makes a call that changes something: a transaction, or what else id names. The
// server answers when that is written down.
func decide[Req, Res any](
	ctx context.Context, c *Client, id string, do func(context.Context, *Req) (*Res, error), req *Req,
) (*Res, error) {
	return callOrDoubt(ctx, c, id, withinPatience(c, do), req)
}

// decideAndWait is decide for a call that is answered when there is an outcome, however
// long that takes.
func decideAndWait[Req, Res any](
	ctx context.Context, c *Client, id string, do func(context.Context, *Req) (*Res, error), req *Req,
) (*Res, error) {
	return callOrDoubt(ctx, c, id, withinRound(c, do), req)
}

// callOrDoubt makes a call, and says so if it may have taken effect although it failed.
func callOrDoubt[Req, Res any](
	ctx context.Context, c *Client, id string, do func(context.Context, *Req) (*Res, error), req *Req,
) (*Res, error) {
	res, doubt, err := callRepeatedly(ctx, c, do, req)
	if doubt {
		return nil, inDoubt(id, err)
	}
	return res, err
}

// inDoubt tells of an error that the call may have taken effect before.
func inDoubt(id string, err error) error {
	if _, ok := errors.AsType[*txn.InDoubtError](err); ok {
		return err
	}
	if !errors.Is(err, errDoubt) {
		err = fmt.Errorf("%w to an earlier call, and then: %w", errDoubt, err)
	}
	return &txn.InDoubtError{ID: id, Err: err}
}

// query makes a call that changes nothing: there is nothing to be in doubt about.
func query[Req, Res any](
	ctx context.Context, c *Client, do func(context.Context, *Req) (*Res, error), req *Req,
) (*Res, error) {
	res, _, err := callRepeatedly(ctx, c, withinPatience(c, do), req)
	if errors.Is(err, errDoubt) && ctx.Err() == nil {
		return nil, fmt.Errorf("%w: %w", txn.ErrUnavailable, err)
	}
	return res, err
}

// jittered is about d: half of it, up to one and a half.
func jittered(d time.Duration) time.Duration { return d/2 + rand.N(d) }
