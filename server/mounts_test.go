package server_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/server"
	"github.com/bedrock-go/bedrock/server/auth"
	"github.com/bedrock-go/bedrock/txn"
)

// told is a handler that says who it was called by.
func told(w http.ResponseWriter, r *http.Request) {
	who := auth.CredentialFrom(r.Context())
	actor := txn.Actor(r.Context())
	_, _ = io.WriteString(w, r.Method+" by "+who.Name+", acting as "+actor)
}

// TestAMountSaysWhatItsRequestsNeed: what stands beside the API is behind the same gate.
func TestAMountSaysWhatItsRequestsNeed(t *testing.T) {
	c := config(t)
	c.Tokens = clients(t, "one")
	submits := func(r *http.Request) auth.Role {
		if strings.HasSuffix(r.URL.Path, "/query") {
			return auth.Viewer
		}
		return auth.Client
	}
	operates := func(*http.Request) auth.Role { return auth.Operator }
	c.Mounts = []server.Mount{
		{Pattern: "/api/dtm/", Handler: http.HandlerFunc(told), Role: submits},
		{Pattern: "/api/dtm/force", Handler: http.HandlerFunc(told), Role: operates},
		{Pattern: "example.com/", Handler: http.HandlerFunc(told), Role: operates},
		{Pattern: "/plain", Handler: http.HandlerFunc(told)},
	}
	s := serve(t, c, nil)
	mine := []string{"Authorization", "Bearer one"}
	for _, tc := range []struct {
		method, path string
		status       int
		headers      []string
	}{
		{http.MethodPost, "/api/dtm/submit", 401, nil},
		{http.MethodPost, "/api/dtm/submit", 401, []string{"Authorization", "Bearer other"}},
		{http.MethodPost, "/api/dtm/submit", 200, mine},
		{http.MethodGet, "/api/dtm/query", 200, mine},
		{http.MethodPost, "/api/dtm/force", 403, mine},
		{http.MethodPost, "/api/dtm/../dtm/force", 403, mine},
		{http.MethodPost, "/api/dtm/submit", 403, append([]string{"Sec-Fetch-Site", "cross-site"}, mine...)},
		{http.MethodGet, "/plain", 200, mine},
		{http.MethodHead, "/plain", 200, mine},
		{http.MethodOptions, "/plain", 403, mine},
		{http.MethodPost, "/plain", 403, mine},
		{http.MethodGet, "/api/dtm/query", 403, append([]string{"Host", "example.com"}, mine...)},
	} {
		s.send(t, http.DefaultClient, tc.method, tc.path, "", tc.headers...).want(t, tc.status)
	}
	s.send(t, http.DefaultClient, http.MethodPost, "/api/dtm/submit", "{}", mine...).want(t, 200,
		"POST by one, acting as one")
}

// TestAMountDoesNotStandBeforeTheAPI: however special its pattern is.
func TestAMountDoesNotStandBeforeTheAPI(t *testing.T) {
	c := config(t)
	everybody := func(*http.Request) auth.Role { return auth.Nobody }
	for _, pattern := range []string{"localhost/", "POST localhost/{service}/Submit", "GET localhost/{page}"} {
		c.Mounts = append(c.Mounts, server.Mount{Pattern: pattern, Handler: http.HandlerFunc(told), Role: everybody})
	}
	c.Tokens = clients(t, "one")
	s := serve(t, c, nil)
	s.post(t, transactions+"Submit", `{}`, "Host", "localhost").want(t, 401)
	s.post(t, transactions+"Submit", `{}`, "Host", "localhost", "Authorization", "Bearer one").want(t, 400,
		"definition: is missing")
	s.send(t, http.DefaultClient, http.MethodGet, "/livez", "", "Host", "localhost").want(t, 200, "ok\n")
}

// TestAMountIsGivenTheTimeOfACall, though what it does, as a profile of a minute, may take longer.
func TestAMountIsGivenTheTimeOfACall(t *testing.T) {
	c := config(t)
	deadline := func(w http.ResponseWriter, r *http.Request) {
		_, bounded := r.Context().Deadline()
		_, _ = fmt.Fprintf(w, "bounded: %t", bounded)
	}
	c.Mounts = []server.Mount{{Pattern: "/profile", Handler: http.HandlerFunc(deadline)}}
	s := serve(t, c, nil)
	s.send(t, http.DefaultClient, http.MethodGet, "/profile", "").want(t, 200, "bounded: false")
}

// slow is a handler that says when it was called, and answers when it is let.
type slow struct{ called, let chan struct{} }

func newSlow() slow { return slow{make(chan struct{}), make(chan struct{})} }

// ServeHTTP implements [http.Handler].
func (s slow) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	s.called <- struct{}{}
	<-s.let
	_, _ = io.WriteString(w, "done")
}

// startCall makes a request, and waits until it is being handled.
func (s slow) startCall(t *testing.T, at *site, path string, headers ...string) <-chan answer {
	t.Helper()
	got := make(chan answer, 1)
	go func() { got <- at.trySend(t.Context(), http.DefaultClient, http.MethodGet, path, "", headers...) }()
	select {
	case <-s.called:
	case a := <-got:
		t.Fatalf("%s was not called: %v %s", path, a.err, a.body)
	}
	return got
}

// TestRequestsToAMountCount within the limits of calls, of all and of each client.
func TestRequestsToAMountCount(t *testing.T) {
	c := config(t)
	h := newSlow()
	c.Tokens, c.Limits = clients(t, "one", "two", "three"), &server.Limits{Requests: 2, Body: 1 << 10}
	c.Mounts = []server.Mount{{Pattern: "/slow", Handler: h}, {Pattern: "/read", Handler: http.HandlerFunc(swallow)}}
	s := serve(t, c, nil)
	ask := func(path, token, body string) answer {
		return s.send(t, http.DefaultClient, http.MethodGet, path, body, "Authorization", "Bearer "+token)
	}
	var calls []<-chan answer
	for _, token := range []string{"one", "two"} {
		calls = append(calls, h.startCall(t, s, "/slow", "Authorization", "Bearer "+token))
		if token == "one" {
			ask("/read", "one", "").want(t, 429, "token one has 1 calls under way")
			ask("/read", "two", strings.Repeat("x", 64<<10)).want(t, 413)
		}
	}
	ask("/read", "three", "").want(t, 429, "2 calls are under way")
	close(h.let)
	for _, call := range calls {
		(<-call).want(t, 200, "done")
	}
	ask("/read", "three", "").want(t, 200)
}

// swallow reads a request.
func swallow(w http.ResponseWriter, r *http.Request) {
	var large *http.MaxBytesError
	if _, err := io.Copy(io.Discard, r.Body); errors.As(err, &large) {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
	}
}

// TestAMountIsLetFinish: when the server stops, a request under way is answered, and what
// would go on for longer hears of it.
func TestAMountIsLetFinish(t *testing.T) {
	c := config(t)
	h := newSlow()
	live := func(w http.ResponseWriter, r *http.Request) {
		h.called <- struct{}{}
		<-server.Stopping(r.Context())
		_, _ = io.WriteString(w, "stops")
	}
	c.Mounts = []server.Mount{{Pattern: "/slow", Handler: h}, {Pattern: "/live", Handler: http.HandlerFunc(live)}}
	s := serve(t, c, nil)
	finished, heard := h.startCall(t, s, "/slow"), h.startCall(t, s, "/live")
	stopped := make(chan error, 1)
	go func() { stopped <- s.stop() }()
	(<-heard).want(t, 200, "stops")
	select {
	case err := <-stopped:
		t.Fatal("the server has not let a request finish: ", err)
	default:
	}
	close(h.let)
	(<-finished).want(t, 200, "done")
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}
