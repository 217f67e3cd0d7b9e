package connectguard_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/lock/guard"
	"github.com/bedrock-go/bedrock/lock/guard/connectguard"
	"github.com/bedrock-go/bedrock/lock/guard/grpcguard"
	"github.com/bedrock-go/bedrock/lock/guard/internal/guardtest"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

func TestMain(m *testing.M) {
	guardtest.PlayHolder(openWriter)
	goleak.VerifyTestMain(m)
}

type (
	text   = guardtest.Text
	client = connect.Client[text, text]
)

// serve starts a service on a shelf.
func serve(t *testing.T, shelf *guardtest.Shelf, store guard.Store, opts *connectguard.Options) *httptest.Server {
	t.Helper()
	return guardtest.ServeHTTP2(t, onShelf(shelf, store, opts))
}

// onShelf is a service that replaces a value, unless there is none to put.
func onShelf(shelf *guardtest.Shelf, store guard.Store, opts *connectguard.Options) http.Handler {
	put := func(ctx context.Context, value string) *text {
		if value != "" {
			shelf.Put(value)
		}
		ticket, _ := guard.TicketFrom(ctx)
		return wrapperspb.String(ticket.Name)
	}
	guarded := connect.WithInterceptors(connectguard.Server(store, opts))
	mux := http.NewServeMux()
	mux.Handle(guardtest.PutMethod, connect.NewUnaryHandler(guardtest.PutMethod,
		func(ctx context.Context, r *connect.Request[text]) (*connect.Response[text], error) {
			if r.Msg.GetValue() == "late" && shelf == nil {
				return nil, &guard.StaleError{Name: "a", Token: 1, Newest: 2}
			}
			return connect.NewResponse(put(ctx, r.Msg.GetValue())), nil
		}, guarded))
	mux.Handle(guardtest.PutsMethod, connect.NewBidiStreamHandler(guardtest.PutsMethod,
		func(ctx context.Context, stream *connect.BidiStream[text, text]) error {
			for {
				r, err := stream.Receive()
				if err != nil {
					return nil //nolint:nilerr // the caller has sent all
				}
				if err := stream.Send(put(ctx, r.GetValue())); err != nil {
					return err
				}
			}
		}, guarded))
	return mux
}

// http2 is a client without TLS. Who uses it closes its connections.
func http2() *http.Client {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Client{Transport: &http.Transport{Protocols: protocols, TLSClientConfig: &tls.Config{}}}
}

// protocols are what a client can speak.
func protocols() map[string]connect.ClientOption {
	return map[string]connect.ClientOption{
		"connect": connect.WithClientOptions(), "gRPC": connect.WithGRPC(), "gRPC-Web": connect.WithGRPCWeb(),
	}
}

// caller calls a service one way.
type caller struct{ call, stream *client }

func newCaller(web *http.Client, url, protocol string) caller {
	opts := []connect.ClientOption{protocols()[protocol], connect.WithInterceptors(connectguard.Client())}
	return caller{
		connect.NewClient[text, text](web, url+guardtest.PutMethod, opts...),
		connect.NewClient[text, text](web, url+guardtest.PutsMethod, opts...),
	}
}

func (c caller) put(ctx context.Context, value string) (string, error) {
	reply, err := c.call.CallUnary(ctx, connect.NewRequest(wrapperspb.String(value)))
	if err != nil {
		return "", err
	}
	return reply.Msg.GetValue(), nil
}

// puts is a stream of one message.
func (c caller) puts(ctx context.Context, value string) (string, error) {
	stream := c.stream.CallBidiStream(ctx)
	defer stream.CloseResponse()
	if err := stream.Send(wrapperspb.String(value)); err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	if err := stream.CloseRequest(); err != nil {
		return "", err
	}
	reply, err := stream.Receive()
	return reply.GetValue(), err
}

// ways are both.
func (c caller) ways() map[string]func(context.Context, string) (string, error) {
	return map[string]func(context.Context, string) (string, error){"call": c.put, "stream": c.puts}
}

func (c caller) writer(by string) guardtest.Client {
	do := c.ways()[by]
	return guardtest.Client{
		Get: func(ctx context.Context) error { _, err := do(ctx, ""); return err },
		Put: func(ctx context.Context, value string) error { _, err := do(ctx, value); return err },
	}
}

func openWriter(_ context.Context, where []string) (guardtest.Writer, error) {
	return newCaller(http2(), where[0], where[1]).writer(where[2]), nil
}

// connections returns a client whose connections are closed with the test.
func connections(t *testing.T) *http.Client {
	t.Helper()
	web := http2()
	t.Cleanup(web.CloseIdleConnections)
	return web
}

func TestPausedHolderWrites(t *testing.T) {
	t.Parallel()
	for _, way := range [][2]string{{"connect", "call"}, {"gRPC", "stream"}} {
		t.Run(strings.Join(way[:], " "), func(t *testing.T) {
			t.Parallel()
			guardtest.PausedHolderWrites(t, func(t *testing.T) guardtest.Resource {
				t.Helper()
				shelf := &guardtest.Shelf{}
				url := serve(t, shelf, guard.NewMemory(nil), nil).URL
				return guardtest.Resource{
					Writer: newCaller(connections(t), url, way[0]).writer(way[1]),
					Where:  []string{url, way[0], way[1]}, Value: shelf.Value,
				}
			})
		})
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	store := guard.NewMemory(nil)
	required := serve(t, &guardtest.Shelf{}, store, nil).URL
	optional := serve(t, &guardtest.Shelf{}, store, &connectguard.Options{Optional: true}).URL
	with := func(token uint64) context.Context {
		return guard.ContextWithTicket(t.Context(), guard.Ticket{Name: "ä b", Token: token})
	}
	for _, c := range []struct {
		ctx   context.Context //nolint:containedctx // of one call
		url   string
		code  connect.Code
		reply string
	}{
		{with(7), required, 0, "ä b"},
		{with(6), required, connect.CodeFailedPrecondition, ""},
		{with(7), optional, 0, "ä b"},
		{with(6), optional, connect.CodeFailedPrecondition, ""},
		{t.Context(), required, connect.CodeFailedPrecondition, ""},
		{t.Context(), optional, 0, ""},
	} {
		for protocol := range protocols() {
			for name, do := range newCaller(connections(t), c.url, protocol).ways() {
				reply, err := do(c.ctx, "")
				if err != nil && connect.CodeOf(err) != c.code || (err != nil) != (c.code > 0) || reply != c.reply {
					t.Errorf("%s, %s: %q, %v; want %q, %v", protocol, name, reply, err, c.reply, c.code)
				}
				ticket, _ := guard.TicketFrom(c.ctx)
				stale, ok := errors.AsType[*guard.StaleError](err)
				if ok != (ticket.Token == 6) || ok && *stale != (guard.StaleError{Name: "ä b", Token: 6, Newest: 7}) {
					t.Errorf("%s, %s: %v has the refusal %+v", protocol, name, err, stale)
				}
			}
		}
	}
}

// TestTicketsAreMixedUp: a call shows the innermost ticket, and one without has not that of its server.
func TestTicketsAreMixedUp(t *testing.T) {
	t.Parallel()
	service := onShelf(&guardtest.Shelf{}, guard.NewMemory(nil), &connectguard.Options{Optional: true})
	server := guardtest.ServeHTTP2(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ofServer := guard.ContextWithTicket(r.Context(), guard.Ticket{Name: "server", Token: 1})
		service.ServeHTTP(w, r.WithContext(ofServer))
	}))
	for protocol := range protocols() {
		for name, do := range newCaller(connections(t), server.URL, protocol).ways() {
			t.Run(protocol+" "+name, func(t *testing.T) {
				locks, err := memlock.New(nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				guardtest.InnermostTicketIsShown(t, locks, func(ctx context.Context) (string, error) {
					return do(ctx, "")
				})
			})
		}
	}
}

// TestHalfATicketIsRefused: a handler of connect, called by whoever has no interceptor.
func TestHalfATicketIsRefused(t *testing.T) {
	t.Parallel()
	url := serve(t, &guardtest.Shelf{}, guard.NewMemory(nil), &connectguard.Options{Optional: true}).URL
	bare := connect.NewClient[text, text](connections(t), url+guardtest.PutMethod)
	request := connect.NewRequest(wrapperspb.String("x"))
	request.Header().Set("Bedrock-Lock-Token", "1")
	if _, err := bare.CallUnary(t.Context(), request); connect.CodeOf(err) != connect.CodeInvalidArgument {
		t.Error(err)
	}
}

// TestAHandlerMayFindOutItself: what its own check says is the same to the caller.
func TestAHandlerMayFindOutItself(t *testing.T) {
	t.Parallel()
	url := serve(t, nil, guard.NewMemory(nil), nil).URL
	ctx := guard.ContextWithTicket(t.Context(), guard.Ticket{Name: "a", Token: 1})
	for protocol := range protocols() {
		_, err := newCaller(connections(t), url, protocol).put(ctx, "late")
		if stale, ok := errors.AsType[*guard.StaleError](err); !ok || stale.Newest != 2 {
			t.Errorf("%s: %v", protocol, err)
		}
	}
}

// TestGRPCGoAndConnectUnderstandEachOther: both ways round.
func TestGRPCGoAndConnectUnderstandEachOther(t *testing.T) {
	t.Parallel()
	store := guard.NewMemory(nil)
	stale := guard.StaleError{Name: "ä b", Token: 6, Newest: 7}
	if err := store.Announce(t.Context(), guard.Ticket{Name: "ä b", Token: 7}); err != nil {
		t.Fatal(err)
	}
	ctx := guard.ContextWithTicket(t.Context(), guard.Ticket{Name: "ä b", Token: 6})

	ofConnect := serve(t, &guardtest.Shelf{}, store, nil)
	conn, err := grpc.NewClient(strings.TrimPrefix(ofConnect.URL, "http://"),
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithUnaryInterceptor(grpcguard.UnaryClient()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	err = conn.Invoke(ctx, guardtest.PutMethod, wrapperspb.String("x"), &text{})
	if got, ok := errors.AsType[*guard.StaleError](err); !ok || *got != stale {
		t.Errorf("grpc-go calls connect: %v", err)
	}

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.UnaryInterceptor(grpcguard.UnaryServer(store, nil)),
		grpc.StreamInterceptor(grpcguard.StreamServer(store, nil)))
	service := &guardtest.Service{Put: func(context.Context, string) (string, error) { return "", nil }}
	server.RegisterService(service.Description(), nil)
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	defer func() { server.Stop(); <-done }()
	for name, do := range newCaller(connections(t), "http://"+listener.Addr().String(), "gRPC").ways() {
		_, err := do(ctx, "x")
		if got, ok := errors.AsType[*guard.StaleError](err); !ok || *got != stale {
			t.Errorf("connect calls grpc-go, %s: %v", name, err)
		}
	}
}

type broken struct{}

func (broken) Announce(context.Context, guard.Ticket) error { return errors.New("secret address") }

func TestAStoreThatDoesNotAnswerLetsNobodyIn(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	shelf := &guardtest.Shelf{}
	opts := &connectguard.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}
	url := serve(t, shelf, broken{}, opts).URL
	ctx := guard.ContextWithTicket(t.Context(), guard.Ticket{Name: "a", Token: 1})
	_, err := newCaller(connections(t), url, "gRPC").put(ctx, "value")
	if connect.CodeOf(err) != connect.CodeUnavailable || strings.Contains(err.Error(), "secret") ||
		shelf.Value(t) != "" {
		t.Errorf("%v, %q", err, shelf.Value(t))
	}
	if !strings.Contains(log.String(), "secret address") {
		t.Error(log.String())
	}
}

// TestWhatCannotBeATicketIsNotSent: nobody listens there.
func TestWhatCannotBeATicketIsNotSent(t *testing.T) {
	t.Parallel()
	ctx := guard.ContextWithTicket(t.Context(), guard.Ticket{Name: "a"})
	for name, do := range newCaller(connections(t), "http://127.0.0.1:1", "gRPC").ways() {
		if _, err := do(ctx, "x"); !errors.Is(err, input.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
