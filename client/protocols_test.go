package client_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/bedrock-go/bedrock/client"
	"github.com/bedrock-go/bedrock/internal/apiwire"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
	"github.com/bedrock-go/bedrock/proto/bedrock/v1/bedrockv1connect"
	"github.com/bedrock-go/bedrock/server"
	"github.com/bedrock-go/bedrock/txn"
)

// submission is a request that waits for its outcome.
func submission(t *testing.T, do txn.Target) *bedrockv1.SubmitRequest {
	t.Helper()
	d, err := one(do).Definition(map[string]int{"n": 1})
	if err != nil {
		t.Fatal(err)
	}
	m, err := apiwire.Definition(&d)
	if err != nil {
		t.Fatal(err)
	}
	return &bedrockv1.SubmitRequest{Definition: m, Wait: true}
}

// TestGRPC calls the server with Google's own gRPC client.
func TestGRPC(t *testing.T) {
	s := serve(t, handler(t, engine(t, parts()), nil))
	conn, err := grpc.NewClient(s.addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var res bedrockv1.SubmitResponse
	err = conn.Invoke(t.Context(), bedrockv1connect.TransactionServiceSubmitProcedure, submission(t, "echo"), &res)
	if err != nil || res.GetResult().GetOutcome() != "committed" ||
		string(res.GetResult().GetReturnedBytes()["a"]) != `{"n":1}` {
		t.Errorf("answer %v, error %v", &res, err)
	}
	err = conn.Invoke(t.Context(), bedrockv1connect.TransactionServiceGetProcedure,
		&bedrockv1.GetRequest{Id: "nobody"}, &bedrockv1.GetResponse{})
	problem, ok := status.Convert(err).Details()[0].(*bedrockv1.Problem)
	if status.Code(err) != codes.NotFound || !ok || problem.GetKind() != "not_found" {
		t.Errorf("error %v with %v", err, problem)
	}
	watchGRPC(t, conn, res.GetId())
}

func watchGRPC(t *testing.T, conn *grpc.ClientConn, id string) {
	t.Helper()
	stream, err := conn.NewStream(t.Context(), &grpc.StreamDesc{ServerStreams: true},
		bedrockv1connect.TransactionServiceWatchProcedure)
	if err == nil {
		err = stream.SendMsg(&bedrockv1.WatchRequest{Id: id})
	}
	if err == nil {
		err = stream.CloseSend()
	}
	var seen bedrockv1.WatchResponse
	if err == nil {
		err = stream.RecvMsg(&seen)
	}
	if err != nil || seen.GetTransaction().GetStatus() != "committed" {
		t.Errorf("watched %v, error %v", &seen, err)
	}
	if err := stream.RecvMsg(&seen); err == nil {
		t.Error("the stream of a final transaction goes on")
	}
}

// TestEveryProtocol makes the same calls in every protocol the port speaks.
func TestEveryProtocol(t *testing.T) {
	s := serve(t, handler(t, engine(t, parts()), nil))
	h2c := &http.Transport{Protocols: new(http.Protocols)}
	h2c.Protocols.SetUnencryptedHTTP2(true)
	defer h2c.CloseIdleConnections()
	h1 := &http.Transport{}
	defer h1.CloseIdleConnections()
	for name, tc := range map[string]struct {
		transport *http.Transport
		option    connect.ClientOption
	}{
		"connect, HTTP/1.1":      {h1, connect.WithClientOptions()},
		"connect, HTTP/2":        {h2c, connect.WithClientOptions()},
		"connect, JSON":          {h1, connect.WithProtoJSON()},
		"connect, compressed":    {h1, connect.WithSendGzip()},
		"gRPC":                   {h2c, connect.WithGRPC()},
		"gRPC, JSON":             {h2c, connect.WithClientOptions(connect.WithGRPC(), connect.WithProtoJSON())},
		"gRPC-Web over HTTP/1.1": {h1, connect.WithGRPCWeb()},
	} {
		t.Run(name, func(t *testing.T) {
			c := bedrockv1connect.NewTransactionServiceClient(&http.Client{Transport: tc.transport}, s.url(), tc.option)
			res, err := c.Submit(t.Context(), submission(t, "echo"))
			if err != nil || res.GetResult().GetOutcome() != "committed" {
				t.Fatalf("answer %v, error %v", res, err)
			}
			stream, err := c.Watch(t.Context(), &bedrockv1.WatchRequest{Id: res.GetId()})
			if err != nil {
				t.Fatal(err)
			}
			if !stream.Receive() || stream.Msg().GetTransaction().GetStatus() != "committed" || stream.Receive() ||
				stream.Err() != nil {
				t.Errorf("watched %v, error %v", stream.Msg(), stream.Err())
			}
			_ = stream.Close()
			_, err = c.Get(t.Context(), &bedrockv1.GetRequest{Id: "nobody"})
			if _, meant := apiwire.TransactionErrorOf(err); !errors.Is(meant, txn.ErrNotFound) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// TestOverTLS goes over HTTP/2, and refuses a server it does not know.
func TestOverTLS(t *testing.T) {
	outer := httptest.NewUnstartedServer(handler(t, engine(t, parts()), nil))
	outer.EnableHTTP2 = true
	outer.StartTLS()
	defer outer.Close()
	pool := x509.NewCertPool()
	pool.AddCert(outer.Certificate())
	c := dial(t, outer.URL, &client.Options{TLS: &tls.Config{RootCAs: pool}})
	r, err := one("echo").Run(t.Context(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := firstError(c.Watch(t.Context(), r.ID)); err != nil {
		t.Error(err)
	}
	stranger := dial(t, outer.URL, &client.Options{Patience: -1})
	if _, err := one("echo").Run(t.Context(), stranger, nil); err == nil ||
		!strings.Contains(err.Error(), "certificate") {
		t.Errorf("a server nobody vouches for: %v", err)
	}
}

// TestNothingIsSentToAServerThatIsNotTrusted, so nothing is in doubt.
func TestNothingIsSentToAServerThatIsNotTrusted(t *testing.T) {
	s := httptest.NewTLSServer(http.NotFoundHandler())
	defer s.Close()
	c := dial(t, s.URL, &client.Options{Patience: -1})
	res, err := one("echo").Run(t.Context(), c, nil)
	_, doubt := errors.AsType[*txn.InDoubtError](err)
	if doubt || res.Outcome == txn.InDoubt || !errors.Is(err, txn.ErrUnavailable) {
		t.Errorf("run: %+v %v", res, err)
	}
	err = c.Act(t.Context(), "a", txn.ActRetry, "test")
	if _, doubt := errors.AsType[*txn.InDoubtError](err); doubt || !errors.Is(err, txn.ErrUnavailable) {
		t.Errorf("act: %v", err)
	}
}

// traces remembers the trace each submit belongs to.
type traces struct {
	txn.Coordinator
	seen chan trace.TraceID
}

func (c traces) Run(ctx context.Context, d txn.Definition) (txn.Result, error) {
	c.seen <- trace.SpanContextFromContext(ctx).TraceID()
	return txn.Result{ID: d.ID, Outcome: txn.Committed}, nil
}

func TestTraceTravels(t *testing.T) {
	co := traces{seen: make(chan trace.TraceID, 2)}
	h, err := server.New(server.Services{Coordinator: co}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := dial(t, serve(t, h).url(), nil)
	want := trace.TraceID{1, 2, 3}
	ctx := trace.ContextWithSpanContext(t.Context(), trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: want, SpanID: trace.SpanID{4}, TraceFlags: trace.FlagsSampled,
	}))
	if _, err := one("echo").Run(ctx, c, nil); err != nil {
		t.Fatal(err)
	}
	if got := <-co.seen; got != want {
		t.Errorf("trace %s, want %s", got, want)
	}
	if _, err := one("echo").Run(t.Context(), c, nil); err != nil {
		t.Fatal(err)
	}
	if got := <-co.seen; got.IsValid() {
		t.Errorf("a call without a trace belongs to %s", got)
	}
}

// TestHopelessRequestsAreNotRepeated: nothing changes by asking again.
func TestHopelessRequestsAreNotRepeated(t *testing.T) {
	c := setup(t, parts())
	start := time.Now()
	if _, err := one("echo").Run(t.Context(), c, strings.Repeat("x", 3<<20)); err == nil ||
		!strings.Contains(err.Error(), "more than 2097152 bytes, which is the limit body") {
		t.Errorf("3 MB: %v", err)
	}
	_, err := c.Submit(t.Context(), txn.Definition{Mode: "saga", Name: "\xff"})
	if _, ok := errors.AsType[*txn.InvalidError](err); !ok {
		t.Errorf("not UTF-8: %v", err)
	}
	if err = c.Act(t.Context(), "t", txn.ActPark, "\xff"); !errors.Is(err, txn.ErrInvalid) {
		t.Errorf("act, not UTF-8: %v", err)
	}
	if err = firstError(c.Watch(t.Context(), "\xff")); !errors.Is(err, txn.ErrInvalid) {
		t.Errorf("watch, not UTF-8: %v", err)
	}
	if took := time.Since(start); took > 8*time.Second { // patience is 10 s
		t.Errorf("asked again for %v", took)
	}
}

// TestBusyServerIsAskedAgain: a server that had no room has done nothing.
func TestBusyServerIsAskedAgain(t *testing.T) {
	co := engine(t, parts())
	c := dial(t,
		serve(t, handler(t, co, func(o *server.Options) { o.Limits = &server.Limits{Rate: 20, Burst: 1} })).url(), nil)
	for range 3 {
		if r, err := one("echo").Run(t.Context(), c, nil); err != nil || r.Outcome != txn.Committed {
			t.Errorf("result %+v, error %v", r, err)
		}
	}
	hasty := dial(t,
		serve(t, handler(t, co, func(o *server.Options) { o.Limits = &server.Limits{Rate: 1, Burst: 1} })).url(),
		&client.Options{Patience: -1})
	_, _ = one("echo").Run(t.Context(), hasty, nil)
	if _, err := one("echo").Run(t.Context(), hasty, nil); !errors.Is(err, txn.ErrUnavailable) {
		t.Errorf("without patience: %v", err)
	}
}
