package grpcguard_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/lock/guard"
	"github.com/bedrock-go/bedrock/lock/guard/grpcguard"
	"github.com/bedrock-go/bedrock/lock/guard/internal/guardtest"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

func TestMain(m *testing.M) {
	guardtest.PlayHolder(openWriter)
	goleak.VerifyTestMain(m)
}

// serve starts a server with one service, and returns its address.
func serve(
	t *testing.T, s *guardtest.Service, store guard.Store, opts *grpcguard.Options, more ...grpc.ServerOption,
) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(append(more, grpc.UnaryInterceptor(grpcguard.UnaryServer(store, opts)),
		grpc.StreamInterceptor(grpcguard.StreamServer(store, opts)))...)
	server.RegisterService(s.Description(), nil)
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	t.Cleanup(func() { server.Stop(); <-done })
	return listener.Addr().String()
}

// onShelf is a service that replaces a value, unless there is none to put.
func onShelf(shelf *guardtest.Shelf) *guardtest.Service {
	return &guardtest.Service{Put: func(ctx context.Context, value string) (string, error) {
		if value != "" {
			shelf.Put(value)
		}
		ticket, _ := guard.TicketFrom(ctx)
		return ticket.Name, nil
	}}
}

func dial(t *testing.T, addr string) *grpc.ClientConn {
	t.Helper()
	conn, err := dialTo(addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func dialTo(addr string) (*grpc.ClientConn, error) {
	return grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithUnaryInterceptor(grpcguard.UnaryClient()), grpc.WithStreamInterceptor(grpcguard.StreamClient()))
}

// put is a call.
func put(ctx context.Context, conn *grpc.ClientConn, value string) (string, error) {
	reply := &guardtest.Text{}
	err := conn.Invoke(ctx, guardtest.PutMethod, wrapperspb.String(value), reply)
	return reply.GetValue(), err
}

// puts is a stream of one message.
func puts(ctx context.Context, conn *grpc.ClientConn, value string) (string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	desc := &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}
	stream, err := conn.NewStream(ctx, desc, guardtest.PutsMethod)
	if err != nil {
		return "", err
	}
	if err := stream.SendMsg(wrapperspb.String(value)); err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	reply := &guardtest.Text{}
	if err := stream.RecvMsg(reply); err != nil {
		return "", err
	}
	if err := stream.CloseSend(); err != nil {
		return "", err
	}
	if err := stream.RecvMsg(&guardtest.Text{}); !errors.Is(err, io.EOF) {
		return "", err
	}
	return reply.GetValue(), nil
}

func openWriter(_ context.Context, where []string) (guardtest.Writer, error) {
	conn, err := dialTo(where[0])
	if err != nil {
		return nil, err
	}
	return clientOf(conn, where[1]), nil
}

// clientOf writes by calls or by streams.
func clientOf(conn *grpc.ClientConn, by string) guardtest.Client {
	do := put
	if by == "stream" {
		do = puts
	}
	return guardtest.Client{
		Get: func(ctx context.Context) error { _, err := do(ctx, conn, ""); return err },
		Put: func(ctx context.Context, value string) error { _, err := do(ctx, conn, value); return err },
	}
}

func TestPausedHolderWrites(t *testing.T) {
	t.Parallel()
	for _, by := range []string{"call", "stream"} {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			guardtest.PausedHolderWrites(t, func(t *testing.T) guardtest.Resource {
				t.Helper()
				shelf := &guardtest.Shelf{}
				addr := serve(t, onShelf(shelf), guard.NewMemory(nil), nil)
				return guardtest.Resource{
					Writer: clientOf(dial(t, addr), by), Where: []string{addr, by}, Value: shelf.Value,
				}
			})
		})
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	store := guard.NewMemory(nil)
	required := dial(t, serve(t, onShelf(&guardtest.Shelf{}), store, nil))
	optional := dial(t, serve(t, onShelf(&guardtest.Shelf{}), store, &grpcguard.Options{Optional: true}))
	with := func(name string, token uint64) context.Context {
		return guard.ContextWithTicket(t.Context(), guard.Ticket{Name: name, Token: token})
	}
	half := metadata.AppendToOutgoingContext(t.Context(), "bedrock-lock-name", "a")
	for _, c := range []struct {
		ctx   context.Context //nolint:containedctx // of one call
		conn  *grpc.ClientConn
		code  codes.Code
		reply string
	}{
		{with("ä b", 7), required, codes.OK, "ä b"},
		{with("ä b", 6), required, codes.FailedPrecondition, ""},
		{with("ä b", 7), optional, codes.OK, "ä b"},
		{with("ä b", 6), optional, codes.FailedPrecondition, ""},
		{t.Context(), required, codes.FailedPrecondition, ""},
		{t.Context(), optional, codes.OK, ""},
		{half, required, codes.InvalidArgument, ""},
		{half, optional, codes.InvalidArgument, ""},
	} {
		for name, do := range map[string]func(context.Context, *grpc.ClientConn, string) (string, error){
			"call": put, "stream": puts,
		} {
			reply, err := do(c.ctx, c.conn, "")
			if status.Code(err) != c.code || reply != c.reply {
				t.Errorf("%s: %q, %v; want %q, %v", name, reply, err, c.reply, c.code)
			}
			ticket, _ := guard.TicketFrom(c.ctx)
			stale, ok := errors.AsType[*guard.StaleError](err)
			if ok != (ticket.Token == 6) || ok && *stale != (guard.StaleError{Name: "ä b", Token: 6, Newest: 7}) {
				t.Errorf("%s: %v has the refusal %+v", name, err, stale)
			}
		}
	}
}

// TestTicketsAreMixedUp: a call shows the innermost ticket, and one without has not that of its server.
func TestTicketsAreMixedUp(t *testing.T) {
	t.Parallel()
	ofServer := grpc.InTapHandle(func(ctx context.Context, _ *tap.Info) (context.Context, error) {
		return guard.ContextWithTicket(ctx, guard.Ticket{Name: "server", Token: 1}), nil
	})
	opts := &grpcguard.Options{Optional: true}
	conn := dial(t, serve(t, onShelf(&guardtest.Shelf{}), guard.NewMemory(nil), opts, ofServer))
	for name, do := range map[string]func(context.Context, *grpc.ClientConn, string) (string, error){
		"call": put, "stream": puts,
	} {
		t.Run(name, func(t *testing.T) {
			locks, err := memlock.New(nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			guardtest.InnermostTicketIsShown(t, locks, func(ctx context.Context) (string, error) {
				return do(ctx, conn, "")
			})
		})
	}
}

// TestAHandlerMayFindOutItself: what its own check says is the same to the caller.
func TestAHandlerMayFindOutItself(t *testing.T) {
	t.Parallel()
	late := &guard.StaleError{Name: "a", Token: 1, Newest: 2}
	service := &guardtest.Service{Put: func(context.Context, string) (string, error) { return "", late }}
	conn := dial(t, serve(t, service, guard.NewMemory(nil), nil))
	ctx := guard.ContextWithTicket(t.Context(), guard.Ticket{Name: "a", Token: 1})
	for name, do := range map[string]func(context.Context, *grpc.ClientConn, string) (string, error){
		"call": put, "stream": puts,
	} {
		_, err := do(ctx, conn, "x")
		if stale, ok := errors.AsType[*guard.StaleError](err); !ok || *stale != *late {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type broken struct{}

func (broken) Announce(context.Context, guard.Ticket) error { return errors.New("secret address") }

func TestAStoreThatDoesNotAnswerLetsNobodyIn(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	shelf := &guardtest.Shelf{}
	opts := &grpcguard.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}
	conn := dial(t, serve(t, onShelf(shelf), broken{}, opts))
	_, err := put(guard.ContextWithTicket(t.Context(), guard.Ticket{Name: "a", Token: 1}), conn, "value")
	if status.Code(err) != codes.Unavailable || strings.Contains(err.Error(), "secret") || shelf.Value(t) != "" {
		t.Errorf("%v, %q", err, shelf.Value(t))
	}
	if !strings.Contains(log.String(), "secret address") {
		t.Error(log.String())
	}
}

// TestWhatCannotBeATicketIsNotSent: nobody listens there.
func TestWhatCannotBeATicketIsNotSent(t *testing.T) {
	t.Parallel()
	conn := dial(t, "127.0.0.1:1")
	ctx := guard.ContextWithTicket(t.Context(), guard.Ticket{Name: "a"})
	_, callErr := put(ctx, conn, "x")
	_, streamErr := puts(ctx, conn, "x")
	if !errors.Is(callErr, input.ErrInvalid) || !errors.Is(streamErr, input.ErrInvalid) {
		t.Error(callErr, streamErr)
	}
}
