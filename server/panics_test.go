package server_test

import (
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/server"
	"github.com/bedrock-go/bedrock/server/auth"
)

func trip(http.ResponseWriter, *http.Request) { panic("what a mess") }

func cutOff(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// TestAPanicBesideTheAPIIsLoggedOnce, with where it was, also by a server that logs panics
// itself; who breaks a connection on purpose has nothing to tell.
func TestAPanicBesideTheAPIIsLoggedOnce(t *testing.T) {
	var text buffer
	c := config(t)
	c.Logger = slog.New(slog.NewTextHandler(&text, nil))
	c.Mounts = []server.Mount{
		{Pattern: "/mess", Handler: http.HandlerFunc(trip)},
		{
			Pattern: "/role", Handler: http.HandlerFunc(told),
			Role: func(*http.Request) auth.Role { panic("whose is it") },
		},
		{Pattern: "/cut", Handler: http.HandlerFunc(cutOff)},
	}
	loud := httptest.NewUnstartedServer(c.handler(t))
	loud.Config.ErrorLog = log.New(&text, "net/http's: ", 0)
	loud.Start()
	defer loud.Close()
	for _, url := range []string{serve(t, c, nil).url, loud.URL} {
		before := text.String()
		for _, path := range []string{"/mess", "/role", "/cut"} {
			wantCutOff(t, url+path)
		}
		got := strings.TrimPrefix(text.String(), before)
		for _, part := range []string{
			"path=/mess", `panic="what a mess"`, "server_test.trip", "path=/role", `panic="whose is it"`,
		} {
			if strings.Count(got, part) != 1 {
				t.Errorf("want %q once: %s", part, got)
			}
		}
		if lines := strings.Count(got, "\n"); lines != 2 {
			t.Errorf("%d lines of two panics: %s", lines, got)
		}
	}
}

// wantCutOff checks that a request is not answered.
func wantCutOff(t *testing.T, url string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err == nil {
		t.Errorf("answered with %d", res.StatusCode)
		_ = res.Body.Close()
	}
	http.DefaultClient.CloseIdleConnections()
}
