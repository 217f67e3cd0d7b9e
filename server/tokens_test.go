package server_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/lock/memlock"
	"github.com/bedrock-go/bedrock/server"
	"github.com/bedrock-go/bedrock/server/auth"
)

func TestTakenOutTokenIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens")
	write(t, file, "viewer a "+auth.HashToken("one")+"\nviewer b "+auth.HashToken("two")+"\n")
	tokens, err := new(auth.Files).Tokens(file)
	if err != nil {
		t.Fatal(err)
	}
	c := config(t)
	c.Tokens = tokens
	s := serve(t, c, nil)
	try := func(token string) int {
		return s.post(t, transactions+"List", `{}`, "Authorization", "Bearer "+token).status
	}
	if try("one") != 200 || try("two") != 200 {
		t.Fatal("a good token is refused")
	}
	write(t, file, "viewer a "+auth.HashToken("one")+"\n")
	eventually(t, func() bool { return try("two") == 401 })
	write(t, file, "broken")
	eventually(t, func() bool { return try("one") == 200 })
	if _, err := new(auth.Files).Tokens(file); err == nil {
		t.Error("a broken file is accepted at the start")
	}
}

// TestRevocationWithATypoIsSilent: a file that cannot be used any more leaves what it
// held before in force, and everybody who should know is told, until it is mended.
func TestRevocationWithATypoIsSilent(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens")
	write(t, file, "viewer a "+auth.HashToken("one")+"\n")
	log := &logged{}
	c := config(t)
	c.Files = &auth.Files{Logger: slog.New(slog.NewTextHandler(log, nil))}
	var err error
	if c.Tokens, err = c.Files.Tokens(file); err != nil {
		t.Fatal(err)
	}
	s := serve(t, c, nil)
	health := func() string { return s.send(t, http.DefaultClient, http.MethodGet, "/healthz", "").body }
	if got := health(); got != "ok\n" {
		t.Errorf("healthy: %q", got)
	}
	for _, broken := range []func() error{
		func() error { return os.WriteFile(file, []byte("viewer b bedrock-secret-in-the-wrong-place\n"), 0o600) },
		func() error { return os.Remove(file) },
	} {
		if err := broken(); err != nil {
			t.Fatal(err)
		}
		eventually(t, func() bool {
			return len(c.Files.Problems()) == 1 && strings.Contains(health(), "cannot be used: 1")
		})
		s.post(t, transactions+"List", `{}`, "Authorization", "Bearer one").want(t, 200)
	}
	if text := log.String(); strings.Count(text, "level=ERROR") != 1 || !strings.Contains(text, file) ||
		strings.Contains(text, "secret") {
		t.Errorf("log: %s", text)
	}
	write(t, file, "viewer a "+auth.HashToken("two")+"\n")
	eventually(t, func() bool { return health() == "ok\n" })
	s.post(t, transactions+"List", `{}`, "Authorization", "Bearer one").want(t, 401)
	if !strings.Contains(log.String(), "can be used again") {
		t.Errorf("log: %s", log)
	}
}

// TestAClockSetBackHidesARevocation: it would until the clock has caught up.
func TestAClockSetBackHidesARevocation(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens")
	write(t, file, "viewer a "+auth.HashToken("one")+"\n")
	tokens, err := new(auth.Files).Tokens(file)
	if err != nil {
		t.Fatal(err)
	}
	write(t, file, "viewer b "+auth.HashToken("two")+" # a is gone\n")
	synctest.Test(t, func(t *testing.T) { // in here it is the year 2000
		h, err := server.New(server.Services{Locks: memlock.NewBackend(nil)}, &server.Options{Tokens: tokens})
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodPost, locks+"Inspect", strings.NewReader(`{"name": "a"}`))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer one")
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != http.StatusUnauthorized {
			t.Errorf("status %d: %s", w.Code, w.Body)
		}
	})
}

// TestRevokedTokenKeepsItsStreams: what a token has opened ends with it.
func TestRevokedTokenKeepsItsStreams(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens")
	both := "viewer a " + auth.HashToken("one") + "\nclient b " + auth.HashToken("two") + "\n"
	write(t, file, both)
	c := config(t)
	var err error
	if c.Tokens, err = new(auth.Files).Tokens(file); err != nil {
		t.Fatal(err)
	}
	co := attentive{c.Coordinator, make(chan struct{}, 1)}
	c.Coordinator = co
	s := serve(t, c, nil)
	s.post(t, transactions+"Begin", `{"definition": {"id": "w", "mode": "tcc", "timeout": "60s"}}`, "Authorization",
		"Bearer two").want(t, 200)
	watch := s.stream(t, transactions+"Watch", `{"id": "w"}`, "Authorization", "Bearer one")
	listen := s.stream(t, locks+"Listen", `{"name": "x", "client": "c"}`, "Authorization", "Bearer two")
	watch.message(t)
	listen.message(t)
	write(t, file, "client b "+auth.HashToken("two")+" # a is gone\n")
	if got := watch.message(t); !strings.Contains(got, "unauthenticated") {
		t.Errorf("the stream goes on: %s", got)
	}
	write(t, file, "viewer c "+auth.HashToken("three")+"\n")
	if got := listen.message(t); !strings.Contains(got, "unauthenticated") {
		t.Errorf("the stream goes on: %s", got)
	}
}

// TestRevokedTokenGetsWhatItWaitsFor: a wait is as long as the server allows. Whoever has
// lost the right to a lock meanwhile must not be given it, nor stand in the way of others.
func TestRevokedTokenGetsWhatItWaitsFor(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens")
	one := "client a " + auth.HashToken("one") + "\n"
	write(t, file, one+"client b "+auth.HashToken("two")+"\n")
	c := config(t)
	var err error
	if c.Tokens, err = new(auth.Files).Tokens(file); err != nil {
		t.Fatal(err)
	}
	co := attentive{c.Coordinator, make(chan struct{}, 1)}
	c.Coordinator = co
	s := serve(t, c, nil)
	s.post(t, transactions+"Begin", `{"definition": {"id": "w", "mode": "tcc", "timeout": "60s"}}`, "Authorization",
		"Bearer one").want(t, 200)
	s.post(t, locks+"Acquire", `{"name": "x", "ttl": "60s"}`, "Authorization", "Bearer one").want(t, 200)
	acquired, waited := make(chan answer, 2), make(chan answer, 1)
	for range cap(acquired) { // one asks the store, the other stands in line behind it
		go func() {
			acquired <- s.tryPost(
				t.Context(), locks+"Acquire", `{"name": "x", "wait": "30s"}`, "Authorization", "Bearer two")
		}()
	}
	go func() {
		waited <- s.tryPost(
			t.Context(), transactions+"Wait", `{"id": "w", "wait_for": "30s"}`, "Authorization", "Bearer two")
	}()
	select {
	case <-co.waits:
	case a := <-waited:
		t.Fatalf("there was no wait: %v %s", a.err, a.body)
	}
	eventually(t, func() bool {
		return strings.Contains(s.post(t, locks+"Inspect", `{"name": "x"}`, "Authorization", "Bearer one").body,
			`"waiting":1`)
	})
	write(t, file, one)
	start := time.Now()
	(<-acquired).want(t, 401, "unauthenticated")
	(<-acquired).want(t, 401, "unauthenticated")
	(<-waited).want(t, 200, `"pending":true`)
	if took := time.Since(start); took > 15*time.Second {
		t.Errorf("the waits went on for %v", took)
	}
}

// TestOneClientTakesAllStreams: others still find room.
func TestOneClientTakesAllStreams(t *testing.T) {
	tokens, err := auth.ParseTokens(strings.NewReader("client a " + auth.HashToken("one") + "\nclient b " +
		auth.HashToken("two")))
	if err != nil {
		t.Fatal(err)
	}
	c := config(t)
	c.Tokens, c.Limits = tokens, &server.Limits{Streams: 4}
	s := serve(t, c, nil)
	open := func(token string) *stream {
		return s.stream(t, locks+"Listen", `{"name": "x", "client": "`+token+`"}`, "Authorization", "Bearer "+token)
	}
	first := open("one")
	first.message(t)
	open("one").message(t)
	s.post(t, locks+"Listen", `{"name": "x"}`, "Authorization", "Bearer one", "Content-Type",
		"application/connect+json").
		want(t, 200, "resource_exhausted", "token a", "2 streams")
	open("two").message(t)
	first.close()
	eventually(t, func() bool {
		return !strings.Contains(open("one").message(t), "resource_exhausted")
	})
}

// logged is a log that is read while it is written.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements [io.Writer].
func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String returns what was written.
func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
