package grpccall_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/bedrock-go/bedrock/coord/allow"
	"github.com/bedrock-go/bedrock/coord/grpccall"
	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/internal/overdue"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/txn"
)

var _ txn.Caller = (*grpccall.Caller)(nil)

func TestACallReachesAGRPCServer(t *testing.T) {
	calls := make(chan txn.Call, 1)
	address := serve(t, nil, func(ctx context.Context, in *wrapperspb.StringValue) (*wrapperspb.StringValue, error) {
		c, _ := txn.CallFrom(ctx)
		calls <- c
		return wrapperspb.String(in.Value + "!"), nil
	})
	sent := call("tea")
	sent.Deadline = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	got := caller(t, nil).Call(t.Context(), txn.Target("grpc://"+address+"/test.Stock/Deduct"), sent)
	if diff := cmp.Diff(txn.Answer{Kind: txn.AnswerDone, Result: encode("tea!")}, got); diff != "" {
		t.Error(diff)
	}
	sent.Payload = nil // the method has it
	if diff := cmp.Diff(sent, <-calls); diff != "" {
		t.Error(diff)
	}
}

func TestAnswers(t *testing.T) {
	var reply error
	address := serve(t, nil, func(context.Context, *wrapperspb.StringValue) (*wrapperspb.StringValue, error) {
		if errors.Is(reply, errPanic) {
			panic("secret")
		}
		return wrapperspb.String(""), reply
	})
	c := caller(t, nil)
	for name, x := range map[string]struct {
		reply error
		want  txn.Answer
	}{
		"empty": {nil, txn.Answer{Kind: txn.AnswerDone}},
		"abort": {
			txn.Abort(errors.New("out of\nstock")), txn.Answer{Kind: txn.AnswerRefused, Note: "out of stock"},
		},
		"ABORTED": {status.Error(codes.Aborted, "no"), txn.Answer{Kind: txn.AnswerRefused, Note: "no"}},
		"pending": {
			txn.Pending(30 * time.Millisecond), txn.Answer{
				Kind: txn.AnswerPending, Note: "still working; ask again in 30ms", After: 30 * time.Millisecond,
			},
		},
		"FAILED_PRE": {
			status.Error(codes.FailedPrecondition, "wait"), txn.Answer{Kind: txn.AnswerPending, Note: "wait"},
		},
		"error": {io.EOF, txn.Answer{Kind: txn.AnswerFailed, Note: "unknown: EOF"}},
		"NOT_FOUND": {
			status.Error(codes.NotFound, strings.Repeat("x", 999)),
			txn.Answer{Kind: txn.AnswerFailed, Lasting: true, Note: "not_found: " + strings.Repeat("x", 245)},
		},
		"down": {
			status.Error(codes.Unavailable, "restarting"),
			txn.Answer{Kind: txn.AnswerFailed, Note: "unavailable: restarting", Down: true},
		},
		"late": {
			status.Error(codes.DeadlineExceeded, "slow"),
			txn.Answer{Kind: txn.AnswerFailed, Note: "deadline_exceeded: slow", Down: true},
		},
		"panic": {errPanic, txn.Answer{Kind: txn.AnswerFailed, Note: "internal: the participant panicked"}},
	} {
		t.Run(name, func(t *testing.T) {
			reply = x.reply
			got := c.Call(t.Context(), txn.Target("grpc://"+address+"/test.Stock/Deduct"), call("x"))
			if diff := cmp.Diff(x.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	got := c.Call(t.Context(), txn.Target("grpc://"+address+"/test.Stock/Nothing"), call("x"))
	if got.Kind != txn.AnswerFailed || !strings.Contains(got.Note, "unimplemented") {
		t.Error(got)
	}
}

var errPanic = errors.New("panic")

func TestTLS(t *testing.T) {
	certificate, roots := certificate(t)
	address := serve(t, &tls.Config{Certificates: []tls.Certificate{certificate}, ClientAuth: tls.RequireAnyClientCert},
		func(context.Context, *wrapperspb.StringValue) (*wrapperspb.StringValue, error) {
			return wrapperspb.String("ok"), nil
		})
	target := txn.Target("grpcs://" + address + "/test.Stock/Deduct")
	good := &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{certificate}}
	if got := caller(t, &grpccall.Options{TLS: good}).Call(t.Context(), target, call("x")); got.Kind != txn.AnswerDone {
		t.Error(got)
	}
	// A handshake that fails has asked nobody.
	got := caller(t, nil).Call(t.Context(), target, call("x"))
	if got.Kind != txn.AnswerUnreached || !strings.Contains(got.Note, "certificate") {
		t.Error(got)
	}
}

// certificate borrows one for 127.0.0.1.
func certificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	s.Close()
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return s.TLS.Certificates[0], roots
}

func TestUnreached(t *testing.T) {
	nobody := testenv.Nobody(t)
	loopback := &grpccall.Options{Allow: allow.Loopback()}
	network, err := allow.Parse("10.0.0.0/8")
	if err != nil {
		t.Fatal(err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx    func() context.Context
		opts   *grpccall.Options
		target string
		note   string
		down   bool
	}{
		"nobody listens": {t.Context, nil, "grpc://" + nobody + "/s/m", "connection refused", true},
		"canceled": {
			func() context.Context { return canceled }, nil, "grpc://" + nobody + "/s/m", "canceled", false,
		},
		"denied": {t.Context, loopback, "grpc://10.0.0.1:1/s/m", "not allowed", false},
		"denied late": {
			t.Context, &grpccall.Options{Allow: network}, "grpc://localhost:1/s/m", "not allowed", false,
		},
		"no method":       {t.Context, nil, "grpc://127.0.0.1:1/s", "pkg.Service/Method", false},
		"empty method":    {t.Context, nil, "grpc://127.0.0.1:1/s/", "pkg.Service/Method", false},
		"no port":         {t.Context, nil, "grpc://127.0.0.1/s/m", "port", false},
		"resolver prefix": {t.Context, nil, "grpc:unix:///tmp/socket", "scheme", false},
		"http":            {t.Context, nil, "http://127.0.0.1:1/s/m", "scheme", false},
		"query":           {t.Context, nil, "grpc://127.0.0.1:1/s/m?x", "pkg.Service/Method", false},
	} {
		t.Run(name, func(t *testing.T) {
			got := caller(t, c.opts).Call(c.ctx(), txn.Target(c.target), call("x"))
			if got.Kind != txn.AnswerUnreached || !strings.Contains(got.Note, c.note) || got.Down != c.down {
				t.Errorf("%+v, want %q, down %v", got, c.note, c.down)
			}
		})
	}
}

// untold is a context whose deadline passes without its being told.
type untold struct{ context.Context } //nolint:containedctx // it is one

func (untold) Done() <-chan struct{} { return nil }

func (untold) Err() error { return nil }

// TestAServerKeepsTheDeadlineFirst: one that hangs is down also if it was its own clock that
// ended the call.
func TestAServerKeepsTheDeadlineFirst(t *testing.T) {
	end := make(chan struct{})
	hangs := func(context.Context, *wrapperspb.StringValue) (*wrapperspb.StringValue, error) {
		<-end
		return nil, errors.New("too late")
	}
	target := txn.Target("grpc://" + serve(t, nil, hangs) + "/test.Stock/Deduct")
	t.Cleanup(func() { close(end) })
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	got := caller(t, nil).Call(untold{ctx}, target, call("x"))
	if got.Kind != txn.AnswerFailed || !strings.Contains(got.Note, "deadline") || !got.Down {
		t.Errorf("%+v", got)
	}
}

// TestACallHangs: the deadline comes when the participant has the call.
func TestACallHangs(t *testing.T) {
	ctx := overdue.New()
	hangs := func(served context.Context, _ *wrapperspb.StringValue) (*wrapperspb.StringValue, error) {
		ctx.Come()
		<-served.Done()
		return nil, served.Err()
	}
	got := caller(t, nil).Call(ctx, txn.Target("grpc://"+serve(t, nil, hangs)+"/test.Stock/Deduct"), call("x"))
	if got.Kind != txn.AnswerFailed || !strings.Contains(got.Note, "deadline") || !got.Down {
		t.Errorf("%+v", got)
	}
}

func TestAResultIsTooLong(t *testing.T) {
	big := func(context.Context, *wrapperspb.StringValue) (*wrapperspb.StringValue, error) {
		return wrapperspb.String(strings.Repeat("x", 100<<20)), nil
	}
	got := caller(t, nil).Call(t.Context(), txn.Target("grpc://"+serve(t, nil, big)+"/test.Stock/Deduct"), call("x"))
	if got.Kind != txn.AnswerFailed || !strings.Contains(got.Note, "too long") || got.Down {
		t.Errorf("%+v", got)
	}
}

// What answers is not always a gRPC server.
func TestOtherServers(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"text":     func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") },
		"conflict": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusConflict) },
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
		},
		"no status": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/grpc+proto")
			_, _ = w.Write([]byte{0, 0, 0, 0, 0})
		},
		"half a frame": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/grpc+proto")
			w.Header().Set("Trailer", "Grpc-Status")
			_, _ = w.Write([]byte{0, 0, 0, 0, 9, 1})
			w.Header().Set("Grpc-Status", "0")
		},
		"compressed": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/grpc+proto")
			w.Header().Set("Trailer", "Grpc-Status")
			w.Header().Set("Grpc-Encoding", "gzip")
			_, _ = w.Write([]byte{1, 0, 0, 0, 1, 1})
			w.Header().Set("Grpc-Status", "0")
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := caller(t, nil).Call(t.Context(), served(t, h), call("x"))
			if got.Kind != txn.AnswerFailed || got.Note == "" || got.Down {
				t.Error(got)
			}
		})
	}
	for _, said := range []int{http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout} {
		t.Run(fmt.Sprint("proxy ", said), func(t *testing.T) {
			target := served(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(said) })
			got := caller(t, nil).Call(t.Context(), target, call("x"))
			if got.Kind != txn.AnswerFailed || !got.Down || !strings.Contains(got.Note, fmt.Sprint(said)) {
				t.Errorf("%+v", got)
			}
		})
	}
	t.Run("HTTP/1.1", func(t *testing.T) {
		s := httptest.NewServer(http.NotFoundHandler())
		defer s.Close()
		target := txn.Target(strings.Replace(s.URL, "http:", "grpc:", 1) + "/test.Stock/Deduct")
		if got := caller(t, nil).Call(t.Context(), target, call("x")); got.Kind != txn.AnswerFailed {
			t.Error(got)
		}
	})
}

// served is the target of a server that speaks HTTP/2 without TLS.
func served(t *testing.T, h http.HandlerFunc) txn.Target {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	t.Cleanup(s.Close)
	return txn.Target(strings.Replace(s.URL, "http:", "grpc:", 1) + "/test.Stock/Deduct")
}

func BenchmarkCall(b *testing.B) {
	address := serve(b, nil, func(_ context.Context, in *wrapperspb.StringValue) (*wrapperspb.StringValue, error) {
		return in, nil
	})
	c := caller(b, nil)
	b.ReportAllocs()
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if got := c.Call(b.Context(), txn.Target("grpc://"+address+"/test.Stock/Deduct"),
				call("x")); got.Kind != txn.AnswerDone {
				b.Error(got)
			}
		}
	})
}

// TestTargetsThatAreNoMethod are refused before a transaction with them is accepted.
func TestTargetsThatAreNoMethod(t *testing.T) {
	c := caller(t, nil)
	for _, target := range []txn.Target{"grpc:x", "grpc://host:1", "grpc://host:1/Service", "grpc://host:1/a/b/c"} {
		if err := c.Check(target); err == nil {
			t.Errorf("%s was accepted", target)
		}
	}
	if err := c.Check("grpcs://host:443/a.B/C"); err != nil {
		t.Error(err)
	}
}

func TestOptionsThatMakeNoSense(t *testing.T) {
	for _, o := range []grpccall.Options{
		{MaxResult: -1},
		{MaxResult: 1<<30 + 1},
		{MaxResult: math.MaxInt},
		{DialTimeout: -1},
		{DialTimeout: 5},
	} {
		_, err := grpccall.New(&o)
		if !errors.Is(err, input.ErrInvalid) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
