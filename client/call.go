package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/bedrock-go/bedrock/internal/wire"
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

// judge says what a failed call has left behind, and what its error means.
func judge(err error) (effect, error) {
	said, meant := wire.TransactionErrorOf(err)
	switch {
	case errors.Is(meant, txn.ErrUnavailable) || errors.Is(meant, txn.ErrClosed):
		return nothing, meant
	case said:
		return answered, meant
	case unsent(err):
		return nothing, bare(err)
	default:
		return judgeTransport(err), err
	}
}

// judgeTransport judges an error that is not the service's own, of a request that may have
// been sent.
func judgeTransport(err error) effect {
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

// unsent tells whether there was no connection to send anything over.
func unsent(err error) bool {
	e, ok := errors.AsType[*net.OpError](err)
	return ok && e.Op == "dial"
}

// bare is the error of a request that was not sent without the code that connect puts before
// it: those who wrap it say the same.
func bare(err error) error {
	if e, ok := errors.AsType[*connect.Error](err); ok {
		return e.Unwrap()
	}
	return err
}

// call makes a call, and makes it again while the server does not answer. It must be
// one that may be repeated. Doubt says that it may have taken effect although it failed:
// what answers the last attempt, a refusal perhaps, says nothing of those before it.
func call[Req, Res any](
	ctx context.Context, c *Client, do func(context.Context, *Req) (*Res, error), req *Req,
) (res *Res, doubt bool, err error) {
	var since time.Time
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		res, err := do(ctx, req)
		if err == nil {
			return res, false, nil
		}
		left, err := judge(err)
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
		if errors.Is(err, errSilent) || time.Since(since) >= c.patience || !sleep(ctx, pause) {
			return nil, doubt, given(ctx, err, doubt)
		}
	}
}

// unfit says why a request cannot be sent at all.
func unfit(req any) error {
	m, ok := req.(proto.Message)
	if !ok {
		return nil
	}
	if _, err := proto.Marshal(m); err != nil {
		return &txn.FieldError{Field: "request", Problem: err.Error()}
	}
	return nil
}

// errDoubt marks a call that may have taken effect.
var errDoubt = errors.New("no answer")

// given is the error of a call that was given up.
func given(ctx context.Context, err error, doubt bool) error {
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
	return settled(ctx, c, id, within(c, do), req)
}

// decideAndWait is decide for a call that is answered when there is an outcome: that takes
// as long as it takes.
func decideAndWait[Req, Res any](
	ctx context.Context, c *Client, id string, do func(context.Context, *Req) (*Res, error), req *Req,
) (*Res, error) {
	return settled(ctx, c, id, waiting(c, do), req)
}

// settled makes a call, and says so if it may have taken effect although it failed.
func settled[Req, Res any](
	ctx context.Context, c *Client, id string, do func(context.Context, *Req) (*Res, error), req *Req,
) (*Res, error) {
	res, doubt, err := call(ctx, c, do, req)
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

// look makes a call that changes nothing: there is nothing to be in doubt about.
func look[Req, Res any](
	ctx context.Context, c *Client, do func(context.Context, *Req) (*Res, error), req *Req,
) (*Res, error) {
	res, _, err := call(ctx, c, within(c, do), req)
	if errors.Is(err, errDoubt) && ctx.Err() == nil {
		return nil, fmt.Errorf("%w: %w", txn.ErrUnavailable, err)
	}
	return res, err
}

// sleep waits for about d. It reports whether the context goes on.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d/2 + rand.N(d))
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
