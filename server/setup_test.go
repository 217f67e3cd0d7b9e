package server_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/lock/memlock"
	"github.com/bedrock-go/bedrock/server"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// engine runs a coordinator with some functions on a store in memory.
func engine(t testing.TB) *coord.Coordinator {
	t.Helper()
	co, err := coord.New(memstore.New(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range functions() {
		if err := co.Register(name, f); err != nil {
			t.Fatal(err)
		}
	}
	if err := co.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = co.Stop(context.Background()) })
	return co
}

// functions are participants for tests.
func functions() map[string]txn.Func {
	return map[string]txn.Func{
		"echo":   func(_ context.Context, call txn.Call) ([]byte, error) { return call.Payload, nil },
		"refuse": func(context.Context, txn.Call) ([]byte, error) { return nil, txn.Abort(errors.New("sold out")) },
		"later":  func(context.Context, txn.Call) ([]byte, error) { return nil, txn.Pending(50 * time.Millisecond) },
		"undo":   func(context.Context, txn.Call) ([]byte, error) { return nil, nil },
	}
}

// setup is what a server is made of.
type setup struct {
	server.Services
	server.Options
}

// handler makes the server.
func (s *setup) handler(t testing.TB) http.Handler {
	t.Helper()
	h, err := server.New(s.Services, &s.Options)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// config is a server of everything.
func config(t testing.TB) setup {
	co := engine(t)
	return setup{Services: server.Services{
		Coordinator: co, Inspector: co, Operator: co, Topics: co, Locks: memlock.NewBackend(nil),
	}}
}

// site is a running server.
type site struct {
	url  string
	stop func() error
}

// serve runs a server until the test ends.
func serve(t testing.TB, c setup, secure *tls.Config) *site {
	t.Helper()
	h := c.handler(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx, l, h, secure); close(done) }()
	s := &site{url: "http://" + l.Addr().String(), stop: func() error { cancel(); return <-done }}
	if secure != nil {
		s.url = "https://" + l.Addr().String()
	}
	t.Cleanup(func() {
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
	json   map[string]any
	err    error // why nothing came back
}

// post sends a body as JSON.
func (s *site) post(t testing.TB, path, body string, headers ...string) answer {
	t.Helper()
	return s.send(t, http.DefaultClient, http.MethodPost, path, body,
		append([]string{"Content-Type", "application/json"}, headers...)...)
}

func (s *site) send(t testing.TB, client *http.Client, method, path, body string, headers ...string) answer {
	t.Helper()
	a := s.trySend(t.Context(), client, method, path, body, headers...)
	if a.err != nil {
		t.Fatal(a.err)
	}
	return a
}

// tryPost is post for goroutines beside the test's: t.Fatal would end such a one before it
// has passed on what came back, and the test would wait for that for ever.
func (s *site) tryPost(ctx context.Context, path, body string, headers ...string) answer {
	return s.trySend(ctx, http.DefaultClient, http.MethodPost, path, body,
		append([]string{"Content-Type", "application/json"}, headers...)...)
}

func (s *site) trySend(
	ctx context.Context, client *http.Client, method, path, body string, headers ...string,
) answer {
	req, err := http.NewRequestWithContext(ctx, method, s.url+path, strings.NewReader(body))
	if err != nil {
		return answer{err: err}
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := client.Do(req)
	if err != nil {
		return answer{err: err}
	}
	defer client.CloseIdleConnections()
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	a := answer{status: res.StatusCode, header: res.Header, body: string(text), err: err}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	_ = decoder.Decode(&a.json) // not all answers are JSON
	return a
}

// at finds a value in JSON by its path, such as result.returned.a.
func (a answer) at(path string) any {
	var v any = a.json
	for name := range strings.SplitSeq(path, ".") {
		object, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = object[name]
	}
	return v
}

// want checks the status and a part of the body.
func (a answer) want(t testing.TB, status int, parts ...string) {
	t.Helper()
	if a.err != nil {
		t.Error(a.err)
		return
	}
	if a.status != status {
		t.Errorf("status %d, want %d: %s", a.status, status, a.body)
	}
	for _, part := range parts {
		if !strings.Contains(a.body, part) {
			t.Errorf("body %s: want %q in it", a.body, part)
		}
	}
}

const (
	transactions = "/bedrock.v1.TransactionService/"
	locks        = "/bedrock.v1.LockService/"
)
