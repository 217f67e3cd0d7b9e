// Package reach is what callers over the network have in common: knowing whether a
// call may have arrived, and remembering targets.
package reach

import (
	"context"
	"errors"
	"net"
	"net/http/httptrace"
	"strings"
	"sync/atomic"

	"github.com/bedrock-go/bedrock/coord/allow"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/participant/header"
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
func (a *Attempt) Failed(ctx context.Context, err error) txn.Answer {
	return Failed(ctx, err, a.connected.Load())
}

// Failed is the answer of a call that ended without one; connected reports whether bytes
// of it may have left. ctx is the caller's.
func Failed(ctx context.Context, err error, connected bool) txn.Answer {
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
	return txn.Answer{Kind: txn.AnswerFailed, Note: header.Excerpt("no valid answer: " + ErrorText(err)), Down: late}
}

// Unreached is the answer of a call that was not made.
func Unreached(err error) txn.Answer {
	return txn.Answer{Kind: txn.AnswerUnreached, Note: header.Excerpt("not reached: " + ErrorText(err))}
}

// ErrorText is an error without our own address, whose port is another one with every
// connection: of attempts that ended the same way, a history has one entry.
func ErrorText(err error) string {
	text := err.Error()
	op, ok := errors.AsType[*net.OpError](err)
	if !ok || op.Source == nil {
		return text
	}
	ours := *op
	ours.Source = nil
	return strings.Replace(text, op.Error(), ours.Error(), 1)
}
