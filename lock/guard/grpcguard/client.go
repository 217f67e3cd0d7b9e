package grpcguard

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/bedrock-go/bedrock/lock/guard"
	"github.com/bedrock-go/bedrock/lock/guard/header"
)

// UnaryClient returns what adds to each call the ticket that its context carries, see [guard.TicketFrom]. A refusal is
// a [*guard.StaleError], and still a status.
func UnaryClient() grpc.UnaryClientInterceptor {
	return func(
		ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker,
		opts ...grpc.CallOption,
	) error {
		ctx, err := withTicket(ctx)
		if err != nil {
			return err
		}
		var trailer metadata.MD
		err = invoke(ctx, method, req, reply, conn, append(slices.Clip(opts), grpc.Trailer(&trailer))...)
		return refusalOf(err, trailer)
	}
}

// StreamClient does the same for streams.
func StreamClient() grpc.StreamClientInterceptor {
	return func(
		ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, open grpc.Streamer,
		opts ...grpc.CallOption,
	) (grpc.ClientStream, error) {
		ctx, err := withTicket(ctx)
		if err != nil {
			return nil, err
		}
		stream, err := open(ctx, desc, conn, method, opts...)
		if err != nil {
			return nil, err
		}
		return clientStream{stream}, nil
	}
}

// clientStream is a stream whose end may be a refusal.
type clientStream struct{ grpc.ClientStream }

// RecvMsg implements [grpc.ClientStream].
func (s clientStream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	if err == nil {
		return nil
	}
	return refusalOf(err, s.Trailer())
}

// withTicket adds the ticket of a context to what is sent.
func withTicket(ctx context.Context) (context.Context, error) {
	ticket, ok := guard.TicketFrom(ctx)
	if !ok {
		return ctx, nil
	}
	if err := ticket.Check(); err != nil {
		return nil, fmt.Errorf("grpcguard: %w", err)
	}
	sent, _ := metadata.FromOutgoingContext(ctx)
	sent = sent.Copy()
	header.Write(ticket, func(name, value string) { sent.Set(name, value) })
	return metadata.NewOutgoingContext(ctx, sent), nil
}

// refusal is a status that is a stale token.
type refusal struct {
	stale  *guard.StaleError
	status *status.Status
}

func (r *refusal) Error() string              { return r.status.Err().Error() }
func (r *refusal) Unwrap() error              { return r.stale }
func (r *refusal) GRPCStatus() *status.Status { return r.status }

// refusalOf finds out whether a call was refused because of its token.
func refusalOf(err error, trailer metadata.MD) error {
	if status.Code(err) != codes.FailedPrecondition {
		return err
	}
	stale := header.ParseStale(trailer.Get)
	if stale == nil {
		return err
	}
	return &refusal{stale, status.Convert(err)}
}
