// Package reach is what callers over the network have in common: knowing whether a
// call may have arrived, and remembering targets.
package reach

import (
	"context"
	"errors"
	"net/http/httptrace"
	"sync/atomic"

	"github.com/bedrock-go/bedrock/coord/allow"
	"github.com/bedrock-go/bedrock/txn/participant/wire"
	"github.com/bedrock-go/bedrock/txn/plan"
)

// Attempt is one call under way.
type Attempt struct {
	// connected turns true when the call gets a connection. From then on bytes may
	// have left; before, certainly none have. Looking at errors instead would go
	// wrong where a transport, after a broken connection, fails to make a new one.
	connected atomic.Bool
}

// Follow returns a context to make one call with.
func Follow(ctx context.Context) (context.Context, *Attempt) {
	a := new(Attempt)
	trace := &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { a.connected.Store(true) },
	}
	return httptrace.WithClientTrace(ctx, trace), a
}

// Failed is the answer of a call that ended without one. ctx is the caller's.
func (a *Attempt) Failed(ctx context.Context, err error) plan.Answer {
	return Failed(ctx, err, a.connected.Load())
}

// Failed is the answer of a call that ended without one; connected says whether bytes
// of it may have left. ctx is the caller's.
func Failed(ctx context.Context, err error, connected bool) plan.Answer {
	ended := ctx.Err()
	if ended != nil {
		err = context.Cause(ctx)
	}
	if !connected {
		answer := Unreached(err)
		answer.Down = !errors.Is(ended, context.Canceled) && !errors.Is(err, allow.ErrDenied)
		return answer
	}
	late := errors.Is(ended, context.DeadlineExceeded)
	return plan.Answer{Kind: plan.Failed, Note: wire.Excerpt("no valid answer: " + err.Error()), Down: late}
}

// Unreached is the answer of a call that was not made.
func Unreached(err error) plan.Answer {
	return plan.Answer{Kind: plan.Unreached, Note: wire.Excerpt("not reached: " + err.Error())}
}
