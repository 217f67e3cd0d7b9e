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

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/lock/memlock"
	"github.com/bedrock-go/bedrock/server"
	"github.com/bedrock-go/bedrock/server/auth"
	"github.com/bedrock-go/bedrock/txn"
)

func TestNewRefuses(t *testing.T) {
	locks := memlock.NewBackend(nil)
	page := http.NotFoundHandler()
	mounted := func(pattern string, h http.Handler) []server.Mount {
		return []server.Mount{{Pattern: "/fine", Handler: page}, {Pattern: pattern, Handler: h}}
	}
	for field, o := range map[string]*server.Options{
		"services":           nil,
		"limit body":         {Limits: &server.Limits{Body: 1}},
		"limit rate":         {Limits: &server.Limits{Rate: -2}},
		"limit streams":      {Limits: &server.Limits{Streams: -1}},
		"mounts[1].handler":  {Mounts: mounted("/x", nil)},
		"mounts[1].pattern":  {Mounts: mounted("", page)},
		"mounts[1].pattern ": {Mounts: mounted("/{", page)},
		"mounts[1].pattern/": {Mounts: mounted("/fine", page)},
		"mounts[1].pattern?": {Mounts: mounted("GET /healthz", page)},
		// Requests to these would never come to a mount.
		"mounts[1].pattern1": {Mounts: mounted(transactions+"Submit", page)},
		"mounts[1].pattern2": {Mounts: mounted("POST localhost/bedrock.v1.Later/{call}", page)},
		"mounts[1].pattern3": {Mounts: mounted("/grpc.health.v1.Health/Check", page)},
		"mounts[1].pattern4": {Mounts: mounted("GET localhost/livez", page)},
	} {
		s := server.Services{Locks: locks}
		if o == nil {
			s.Locks = nil
		}
		_, err := server.New(s, o)
		wrong, ok := errors.AsType[*input.Error](err)
		if !ok || wrong.Field != strings.TrimRight(field, " /?1234") {
			t.Errorf("%s: %v", field, err)
		}
		if err != nil && strings.Contains(err.Error(), ".go:") {
			t.Errorf("%s speaks of our files: %v", field, err)
		}
	}
}

// TestPartsMayBeMissing: what a server does not have it says.
func TestPartsMayBeMissing(t *testing.T) {
	s := serve(t, setup{Services: server.Services{Coordinator: engine(t)}}, nil)
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
	for _, part := range []string{
		"secret-host", "what a mess", "path=" + transactions + "Get", "server_test.broken.Get",
	} {
		if text := log.String(); !strings.Contains(text, part) {
			t.Errorf("want %q in the log: %s", part, text)
		}
	}
}

func TestInterventionsAreAudited(t *testing.T) {
	var log buffer
	tokens, err := auth.ParseTokens(strings.NewReader("operator alice " + auth.HashToken("secret-token")))
	if err != nil {
		t.Fatal(err)
	}
	c := config(t)
	c.Tokens = tokens
	c.Logger = slog.New(slog.NewTextHandler(&log, nil))
	s := serve(t, c, nil)
	auth := []string{"Authorization", "Bearer secret-token"}
	s.post(t, transactions+"Begin", `{"definition": {"id": "t", "mode": "tcc"}}`, auth...).want(t, 200)
	s.post(t, transactions+"Act", `{"id": "t", "action": "park", "reason": "look at it"}`, auth...).want(t, 200)
	s.post(t, transactions+"Act", `{"id": "t", "action": "remove", "reason": "tidy"}`, auth...).want(t, 400,
		"failed_precondition")
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
	c := config(t)
	outer := httptest.NewServer(c.handler(t))
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
