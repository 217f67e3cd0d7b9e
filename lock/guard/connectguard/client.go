package connectguard

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"connectrpc.com/connect"

	"github.com/bedrock-go/bedrock/lock/guard"
	"github.com/bedrock-go/bedrock/lock/guard/header"
)

// Client returns what adds to each call and stream the ticket that its context carries, see [guard.TicketFrom]. A
// refusal is a [*guard.StaleError], and still a [*connect.Error].
func Client() connect.Interceptor { return client{} }

type client struct{}

// WrapUnary implements [connect.Interceptor].
func (client) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
		if !request.Spec().IsClient {
			return next(ctx, request)
		}
		if err := addTicket(ctx, request.Header()); err != nil {
			return nil, err
		}
		response, err := next(ctx, request)
		return response, refusalOf(err)
	}
}

// WrapStreamingClient implements [connect.Interceptor].
func (client) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return func(ctx context.Context, spec connect.Spec) connect.StreamingClientConn {
		conn := next(ctx, spec)
		if err := addTicket(ctx, conn.RequestHeader()); err != nil {
			return unsent{conn, err}
		}
		return clientConn{conn}
	}
}

// WrapStreamingHandler implements [connect.Interceptor]. It is not for handlers.
func (client) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return next
}

// clientConn is a stream whose end may be a refusal.
type clientConn struct{ connect.StreamingClientConn }

// Receive implements [connect.StreamingClientConn].
func (c clientConn) Receive(message any) error {
	return refusalOf(c.StreamingClientConn.Receive(message))
}

// unsent is a stream that is never begun, because its ticket cannot be one. It must not be closed, either: that
// would wait for an answer.
type unsent struct {
	connect.StreamingClientConn

	err error
}

// Send implements [connect.StreamingClientConn].
func (u unsent) Send(any) error { return u.err }

// Receive implements [connect.StreamingClientConn].
func (u unsent) Receive(any) error { return u.err }

// CloseRequest implements [connect.StreamingClientConn].
func (u unsent) CloseRequest() error { return nil }

// CloseResponse implements [connect.StreamingClientConn].
func (u unsent) CloseResponse() error { return nil }

func addTicket(ctx context.Context, sent http.Header) error {
	ticket, ok := guard.TicketFrom(ctx)
	if !ok {
		return nil
	}
	if err := ticket.Check(); err != nil {
		return fmt.Errorf("connectguard: %w", err)
	}
	header.Write(ticket, sent.Set)
	return nil
}

// refusal is an answer that is a stale token.
type refusal struct {
	stale  *guard.StaleError
	answer *connect.Error
}

func (r *refusal) Error() string   { return r.answer.Error() }
func (r *refusal) Unwrap() []error { return []error{r.answer, r.stale} }

// refusalOf finds out whether a call was refused because of its token.
func refusalOf(err error) error {
	answer, ok := errors.AsType[*connect.Error](err)
	if !ok || answer.Code() != connect.CodeFailedPrecondition {
		return err
	}
	stale := header.ParseStale(answer.Meta().Values)
	if stale == nil {
		return err
	}
	return &refusal{stale, answer}
}
