package server_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock/memlock"
	"github.com/bedrock-go/bedrock/server"
	"github.com/bedrock-go/bedrock/txn"
)

func TestExposure(t *testing.T) {
	for _, tc := range []struct {
		addr                  string
		tls, tokens, insecure bool
		ok                    bool
	}{
		{addr: "127.0.0.1:7700", ok: true},
		{addr: "127.8.9.1:7700", ok: true},
		{addr: "[::1]:7700", ok: true},
		{addr: "[::ffff:127.0.0.1]:7700", ok: true},
		{addr: "localhost:7700", ok: true},
		{addr: ":7700"},
		{addr: "0.0.0.0:7700"},
		{addr: "[::]:7700"},
		{addr: "10.0.0.1:7700"},
		{addr: "10.0.0.1:7700", tls: true},
		{addr: "10.0.0.1:7700", tokens: true},
		{addr: "10.0.0.1:7700", tls: true, tokens: true, ok: true},
		{addr: "10.0.0.1:7700", insecure: true, ok: true},
		{addr: "localhost.example:7700"},
		{addr: "app.localhost:7700"},
		{addr: "127.0.0.1.example:7700"},
	} {
		err := server.CheckExposure(tc.addr, tc.tls, tc.tokens, tc.insecure)
		if (err == nil) != tc.ok || err != nil && !errors.Is(err, server.ErrExposed) {
			t.Errorf("%+v: %v", tc, err)
		}
	}
	if err := server.CheckExposure("nonsense", true, true, true); err == nil {
		t.Error("no port: no error")
	}
}

func TestNewRefuses(t *testing.T) {
	locks := memlock.NewBackend(nil)
	for what, c := range map[string]server.Config{
		"nothing":          {},
		"a tiny body":      {Locks: locks, Limits: &server.Limits{Body: 1}},
		"a negative rate":  {Locks: locks, Limits: &server.Limits{Rate: -2}},
		"negative streams": {Locks: locks, Limits: &server.Limits{Streams: -1}},
	} {
		if _, err := server.New(c); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}

// TestPartsMayBeMissing: what a server does not have it says.
func TestPartsMayBeMissing(t *testing.T) {
	s := serve(t, server.Config{Coordinator: engine(t)}, nil)
	for _, procedure := range []string{"Get", "List", "Act", "Subscribe", "Unsubscribe", "Subscribers"} {
		s.post(t, transactions+procedure, `{}`).want(t, 501, "unimplemented", "this server has no")
	}
	s.post(t, locks+"Inspect", `{"name": "a"}`).want(t, 404)
	s.send(t, http.DefaultClient, http.MethodGet, "/metrics", "").want(t, 404)
	s.send(t, http.DefaultClient, http.MethodGet, "/", "").want(t, 404)
	s.send(t, http.DefaultClient, http.MethodGet, "/healthz", "").want(t, 200)
}

// broken is an inspector whose store is away.
type broken struct{ txn.Inspector }

func (broken) List(context.Context, txn.Query) (txn.Page, error) {
	return txn.Page{}, errors.New("dial tcp secret-host: connection refused")
}

func (broken) Get(context.Context, string) (*txn.Transaction, error) { panic("what a mess") }

func TestFailuresAreToldToTheLogOnly(t *testing.T) {
	var log buffer
	c := config(t)
	c.Inspector = broken{}
	c.Logger = slog.New(slog.NewTextHandler(&log, nil))
	s := serve(t, c, nil)
	s.send(t, http.DefaultClient, http.MethodGet, "/readyz", "").want(t, 503, "cannot be reached")
	a := s.post(t, transactions+"List", `{}`)
	a.want(t, 500, "internal", "log")
	b := s.post(t, transactions+"Get", `{"id": "a"}`)
	b.want(t, 500, "internal")
	if strings.Contains(a.body+b.body, "secret") || strings.Contains(b.body, "what a mess") {
		t.Errorf("told to the client: %s %s", a.body, b.body)
	}
	if text := log.String(); !strings.Contains(text, "secret-host") || !strings.Contains(text, "what a mess") {
		t.Errorf("log: %s", text)
	}
}

func TestInterventionsAreAudited(t *testing.T) {
	var log buffer
	tokens, err := server.ParseTokens(strings.NewReader("operator alice " + server.HashToken("secret-token")))
	if err != nil {
		t.Fatal(err)
	}
	c := config(t)
	c.Auth = tokens
	c.Logger = slog.New(slog.NewTextHandler(&log, nil))
	s := serve(t, c, nil)
	auth := []string{"Authorization", "Bearer secret-token"}
	s.post(t, transactions+"Begin", `{"definition": {"id": "t", "mode": "tcc"}}`, auth...).want(t, 200)
	s.post(t, transactions+"Act", `{"id": "t", "action": "park", "reason": "look at it"}`, auth...).want(t, 200)
	s.post(t, transactions+"Act", `{"id": "t", "action": "remove", "reason": "tidy"}`, auth...).want(t, 400, "failed_precondition")
	s.post(t, locks+"ForceRelease", `{"name": "orders/42", "reason": "stuck"}`, auth...).want(t, 200)
	for _, part := range []string{
		`action=park who=alice role=operator`, `transaction=t reason="look at it"`, `action=remove`, `err=`,
		`lock=orders/42 held=false reason=stuck action="force release" who=alice`,
	} {
		if !strings.Contains(log.String(), part) {
			t.Errorf("the audit trail lacks %q:\n%s", part, log.String())
		}
	}
	if strings.Contains(log.String(), "secret-token") {
		t.Error("the token is in the log")
	}
	s.post(t, transactions+"Get", `{"id": "t"}`, auth...).want(t, 200, `"by":"alice"`)
}

// TestInterventionWithoutReason: the audit trail is worth something only if it says why.
func TestInterventionWithoutReason(t *testing.T) {
	s := serve(t, config(t), nil)
	for _, reason := range []string{``, `, "reason": "  "`} {
		s.post(t, transactions+"Act", `{"id": "t", "action": "park"`+reason+`}`).want(t, 400, "reason: is empty")
		s.post(t, locks+"ForceRelease", `{"name": "orders/42"`+reason+`}`).want(t, 400, "reason: is empty")
	}
}

func TestHandlerWorksInAnyServer(t *testing.T) {
	h, err := server.New(config(t))
	if err != nil {
		t.Fatal(err)
	}
	outer := httptest.NewServer(h)
	defer outer.Close()
	s := &site{url: outer.URL}
	s.post(t, locks+"Acquire", `{"name": "a"}`).want(t, 200)
	s.post(t, locks+"Acquire", `{"name": "a", "wait": "0.01s"}`).want(t, 409)
}

func TestServeEndsWithItsListener(t *testing.T) {
	s := serve(t, config(t), nil)
	done := make(chan error, 1)
	go func() { done <- s.stop() }()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(5 * time.Second):
		t.Error("an idle server does not stop")
	}
}

// buffer is a log that may be written and read at once.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
