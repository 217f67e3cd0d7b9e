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

// Client returns what adds to each call and stream the ticket that its context carries: that of the lease it was made
// from, or of [guard.ContextWithTicket]. A refusal is a [*guard.StaleError], and still a [*connect.Error].
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
		return clientConn{conn, addTicket(ctx, conn.RequestHeader())}
	}
}

// WrapStreamingHandler implements [connect.Interceptor]. It is not for handlers.
func (client) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return next
}

// clientConn is a stream whose end may be a refusal.
type clientConn struct {
	connect.StreamingClientConn

	wrong error // the ticket cannot be one: nothing is sent
}

// Send implements [connect.StreamingClientConn].
func (c clientConn) Send(message any) error {
	if c.wrong != nil {
		return c.wrong
	}
	return c.StreamingClientConn.Send(message)
}

// Receive implements [connect.StreamingClientConn].
func (c clientConn) Receive(message any) error {
	if c.wrong != nil {
		return c.wrong
	}
	return refusalOf(c.StreamingClientConn.Receive(message))
}

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
