package httpcall_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bedrock-go/bedrock/coord/allow"
	"github.com/bedrock-go/bedrock/coord/httpcall"
	"github.com/bedrock-go/bedrock/internal/overdue"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/participant"
)

var _ txn.Caller = (*httpcall.Caller)(nil)

// caller returns a Caller that is closed with the test.
func caller(t testing.TB, opts *httpcall.Options) *httpcall.Caller {
	t.Helper()
	c, err := httpcall.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// serve starts a participant.
func serve(t testing.TB, h http.HandlerFunc) txn.Target {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return txn.Target(s.URL)
}

func call() txn.Call {
	return txn.Call{
		Transaction: "order-1", Branch: "pay", Op: "action", Mode: "saga", Attempt: 1, Epoch: 7,
		Payload: []byte(`{"a":1}`),
	}
}

func TestACallIsWhatTheContractSays(t *testing.T) {
	requests := make(chan *http.Request, 1)
	bodies := make(chan string, 1)
	target := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		requests <- r
		bodies <- string(body)
		_, _ = w.Write([]byte("ok"))
	})
	full := call()
	full.Deadline = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	full.Result = []byte("before")
	full.Headers = map[string]string{"traceparent": "00-1-2-01"}
	answer := caller(t, nil).Call(t.Context(), target+"/charge?x=1", full)
	if diff := cmp.Diff(txn.Answer{Kind: txn.AnswerDone, Result: []byte("ok")}, answer); diff != "" {
		t.Error(diff)
	}
	r := <-requests
	if r.Method != http.MethodPost || r.URL.String() != "/charge?x=1" || r.ContentLength != 7 {
		t.Error(r.Method, r.URL, r.ContentLength)
	}
	if body := <-bodies; body != `{"a":1}` {
		t.Error(body)
	}
	want := http.Header{
		"Bedrock-Transaction": {"order-1"}, "Bedrock-Branch": {"pay"}, "Bedrock-Operation": {"action"},
		"Bedrock-Mode":    {"saga"},
		"Bedrock-Attempt": {"1"}, "Bedrock-Epoch": {"7"}, "Bedrock-Deadline": {"2030-01-02T03:04:05Z"},
		"Bedrock-Result":  {base64.StdEncoding.EncodeToString([]byte("before"))},
		"Idempotency-Key": {"order-1/pay/action"}, "Traceparent": {"00-1-2-01"}, "Content-Type": {"application/json"},
		"Content-Length": {"7"}, "User-Agent": {"bedrock"},
	}
	if diff := cmp.Diff(want, r.Header); diff != "" {
		t.Error(diff)
	}
}

// The engine refuses such headers before; whoever uses a Caller alone is safe, too.
func TestHeadersCannotSmuggle(t *testing.T) {
	headers := make(chan http.Header, 1)
	target := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		if r.Host == "evil" || r.ContentLength != 7 {
			t.Error(r.Host, r.ContentLength)
		}
		headers <- r.Header
	})
	one := call()
	one.Headers = map[string]string{
		"X-Value": "a\r\nEvil: 1\r\n\r\nPOST / HTTP/1.1", "X\r\nEvil": "1", "Host": "evil", "Content-Length": "1",
		"Transfer-Encoding": "chunked",
	}
	got := caller(t, nil).Call(t.Context(), target, one)
	if got.Kind != txn.AnswerDone {
		t.Fatal(got)
	}
	if h := <-headers; h.Get("Evil") != "" || h.Get("Transfer-Encoding") != "" {
		t.Error(h)
	}
}

func TestPayloadsThatAreNotJSON(t *testing.T) {
	types := make(chan []string, 1)
	target := serve(t, func(_ http.ResponseWriter, r *http.Request) { types <- r.Header["Content-Type"] })
	c := caller(t, nil)
	for payload, want := range map[string][]string{
		"": nil, "{": {"application/octet-stream"}, "null": {"application/json"},
	} {
		one := call()
		one.Payload = []byte(payload)
		if answer := c.Call(t.Context(), target, one); answer.Kind != txn.AnswerDone || answer.Result != nil {
			t.Errorf("%q: %+v", payload, answer)
		}
		if diff := cmp.Diff(want, <-types); diff != "" {
			t.Errorf("%q: %s", payload, diff)
		}
	}
}

func TestAnswers(t *testing.T) {
	dated := map[string]string{"Retry-After": "Wed, 21 Oct 2015 07:28:03 GMT", "Date": "Wed, 21 Oct 2015 07:28:00 GMT"}
	for _, c := range []struct {
		status int
		header map[string]string
		body   string
		want   txn.Answer
	}{
		{200, nil, `{"id":5}`, txn.Answer{Kind: txn.AnswerDone, Result: []byte(`{"id":5}`)}},
		{200, nil, "", txn.Answer{Kind: txn.AnswerDone}},
		{201, nil, "\x00\xff", txn.Answer{Kind: txn.AnswerDone, Result: []byte("\x00\xff")}},
		{204, nil, "", txn.Answer{Kind: txn.AnswerDone}},
		{299, nil, "x", txn.Answer{Kind: txn.AnswerDone, Result: []byte("x")}},
		{409, nil, "out of\n stock\x00", txn.Answer{Kind: txn.AnswerRefused, Note: "out of  stock"}},
		{409, nil, "", txn.Answer{Kind: txn.AnswerRefused}},
		{
			425,
			map[string]string{"Retry-After": "3"},
			"working",
			txn.Answer{Kind: txn.AnswerPending, Note: "working", After: 3 * time.Second},
		},
		{
			425,
			map[string]string{"Bedrock-Retry-After": "30"},
			"",
			txn.Answer{Kind: txn.AnswerPending, After: 30 * time.Millisecond},
		},
		{425, dated, "", txn.Answer{Kind: txn.AnswerPending, After: 3 * time.Second}},
		{425, map[string]string{"Retry-After": "soon"}, "", txn.Answer{Kind: txn.AnswerPending}},
		{
			301, map[string]string{"Location": "/"}, "", txn.Answer{
				Kind: txn.AnswerFailed, Note: "301 Moved Permanently: redirects are not followed",
			},
		},
		{304, nil, "", txn.Answer{Kind: txn.AnswerFailed, Note: "304 Not Modified: redirects are not followed"}},
		{400, nil, "what?", txn.Answer{Kind: txn.AnswerFailed, Note: "400 Bad Request: what?", Lasting: true}},
		{404, nil, "", txn.Answer{Kind: txn.AnswerFailed, Note: "404 Not Found", Lasting: true}},
		{
			429,
			map[string]string{"Retry-After": "3"},
			"",
			txn.Answer{Kind: txn.AnswerFailed, Note: "429 Too Many Requests"},
		},
		{500, nil, "boom", txn.Answer{Kind: txn.AnswerFailed, Note: "500 Internal Server Error: boom"}},
		{503, nil, "", txn.Answer{Kind: txn.AnswerFailed, Note: "503 Service Unavailable", Down: true}},
		{
			599, nil, strings.Repeat("x", 5000), txn.Answer{
				Kind: txn.AnswerFailed, Note: "599 : " + strings.Repeat("x", 250),
			},
		},
	} {
		t.Run(fmt.Sprint(c.status, " ", c.header), func(t *testing.T) {
			target := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				for name, value := range c.header {
					w.Header().Set(name, value)
				}
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.body))
			})
			got := caller(t, nil).Call(t.Context(), target, call())
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTheHandlerOnTheOtherEnd(t *testing.T) {
	seen := make(chan txn.Call, 1)
	reply := make(chan error, 1)
	handler := participant.Handler(func(_ context.Context, c txn.Call) ([]byte, error) {
		seen <- c
		return []byte(`"done"`), <-reply
	}, nil)
	target := serve(t, handler.ServeHTTP)
	c := caller(t, nil)
	sent := call()
	sent.Result, sent.Headers = []byte("before"), map[string]string{"traceparent": "p"}
	for _, x := range []struct {
		err  error
		want txn.Answer
	}{
		{nil, txn.Answer{Kind: txn.AnswerDone, Result: []byte(`"done"`)}},
		{txn.Abort(fmt.Errorf("out of stock")), txn.Answer{Kind: txn.AnswerRefused, Note: "out of stock"}},
		{
			txn.Pending(1500 * time.Millisecond), txn.Answer{
				Kind: txn.AnswerPending, Note: "still working; ask again in 1.5s", After: 1500 * time.Millisecond,
			},
		},
		{io.ErrUnexpectedEOF, txn.Answer{Kind: txn.AnswerFailed, Note: "500 Internal Server Error: unexpected EOF"}},
	} {
		reply <- x.err
		if diff := cmp.Diff(x.want, c.Call(t.Context(), target, sent)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(sent, <-seen); diff != "" {
			t.Error(diff)
		}
	}
}

// serveTLS starts a participant with HTTP/2 that wants a client certificate, and
// returns what a caller needs to talk to it.
func serveTLS(t *testing.T, h http.HandlerFunc) (*httptest.Server, *tls.Config) {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.EnableHTTP2 = true
	s.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	s.StartTLS()
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return s, &tls.Config{RootCAs: roots, Certificates: s.TLS.Certificates}
}

func TestTLS(t *testing.T) {
	protocols := make(chan string, 1)
	s, good := serveTLS(t, func(_ http.ResponseWriter, r *http.Request) {
		protocols <- fmt.Sprint(r.Proto, " ", len(r.TLS.PeerCertificates))
	})
	target := txn.Target(s.URL)

	answer := caller(t, &httpcall.Options{TLS: good}).Call(t.Context(), target, call())
	if answer.Kind != txn.AnswerDone {
		t.Fatal(answer)
	}
	if got := <-protocols; got != "HTTP/2.0 1" {
		t.Error(got)
	}
	// A handshake that fails has asked nobody.
	answer = caller(t, nil).Call(t.Context(), target, call())
	if answer.Kind != txn.AnswerUnreached || !strings.Contains(answer.Note, "certificate") {
		t.Error(answer)
	}
}

// Over HTTP/2, too, it is known whether a call may have arrived.
func TestHTTP2KnowsWhetherACallHasLeft(t *testing.T) {
	ctx := overdue.New()
	s, good := serveTLS(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/hang":
			ctx.Come()
			<-r.Context().Done()
		case "/abort":
			panic(http.ErrAbortHandler)
		case "/flood":
			for err := error(nil); err == nil; {
				_, err = w.Write(make([]byte, 1<<20))
			}
		}
	})
	c := caller(t, &httpcall.Options{TLS: good})
	if got := c.Call(ctx, txn.Target(s.URL+"/hang"), call()); got.Kind != txn.AnswerFailed || !got.Down {
		t.Error(got)
	}
	if got := c.Call(t.Context(), txn.Target(s.URL+"/abort"), call()); got.Kind != txn.AnswerFailed || got.Down {
		t.Error(got)
	}
	if got := c.Call(t.Context(), txn.Target(s.URL+"/flood"), call()); got.Kind != txn.AnswerDone || got.Result != nil {
		t.Error(got)
	}
	if got := c.Call(t.Context(), txn.Target(s.URL+"/fine"), call()); got.Kind != txn.AnswerDone {
		t.Error(got)
	}
	s.Close()
	fresh := caller(t, &httpcall.Options{TLS: good})
	if got := fresh.Call(t.Context(), txn.Target(s.URL), call()); got.Kind != txn.AnswerUnreached || !got.Down {
		t.Error(got)
	}
}

// A target is judged once, however often it is submitted.
func TestCheckRemembers(t *testing.T) {
	c := caller(t, &httpcall.Options{Allow: allow.Loopback()})
	for _, target := range []txn.Target{"http://127.0.0.1/a", "https://localhost/b"} {
		if n := testing.AllocsPerRun(100, func() {
			if err := c.Check(target); err != nil {
				t.Error(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", target, n)
		}
	}
	for range 2 {
		if err := c.Check("http://10.0.0.1/"); !errors.Is(err, allow.ErrDenied) {
			t.Error(err)
		}
	}
}

func TestOptionsThatMakeNoSense(t *testing.T) {
	for _, o := range []httpcall.Options{
		{PerHost: -1},
		{MaxResult: -1},
		{MaxResult: 1<<30 + 1},
		{MaxResult: math.MaxInt},
		{DialTimeout: -1},
		{DialTimeout: 5},
	} {
		if _, err := httpcall.New(&o); err == nil {
			t.Errorf("%+v: accepted", o)
		}
	}
}
