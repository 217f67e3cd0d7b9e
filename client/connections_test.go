package client_test

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/bedrock-go/bedrock/client"
)

// A server that was restarted is noticed before anything is sent: nothing has to be
// asked again.
func TestARestartBetweenCallsIsNotFelt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("nothing looks into sockets here")
	}
	s := serve(t, instantHandler(t))
	c := dial(t, s.url(), &client.Options{Patience: -1})
	for range 3 {
		if _, err := one("echo").Run(t.Context(), c, nil); err != nil {
			t.Error(err)
		}
		s.end()
		s.start()
	}
}

// Calls one after another go over one connection.
func TestConnectionsAreUsedAgain(t *testing.T) {
	var made atomic.Int64
	s := httptest.NewUnstartedServer(instantHandler(t))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			made.Add(1)
		}
	}
	s.Start()
	defer s.Close()
	c := dial(t, s.URL, nil)
	for range 10 {
		if _, err := one("echo").Run(t.Context(), c, nil); err != nil {
			t.Error(err)
		}
	}
	if n := made.Load(); n != 1 {
		t.Error(n, "connections")
	}
	if err := errors.Join(c.Close(), c.Close()); err != nil { // a second one does no harm
		t.Error(err)
	}
	if _, err := one("echo").Run(t.Context(), c, nil); err != nil || made.Load() != 2 {
		t.Error(err, made.Load(), "connections")
	}
}

// Who brings an HTTP client has perhaps other uses for its connections.
func TestTheConnectionsOfOthersAreLeftOpen(t *testing.T) {
	var made atomic.Int64
	s := httptest.NewUnstartedServer(instantHandler(t))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			made.Add(1)
		}
	}
	s.Start()
	defer s.Close()
	own := &http.Client{Transport: new(http.Transport)}
	defer own.CloseIdleConnections()
	for range 2 {
		c := dial(t, s.URL, &client.Options{HTTP: own})
		if _, err := one("echo").Run(t.Context(), c, nil); err != nil {
			t.Error(err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	if n := made.Load(); n != 1 {
		t.Error(n, "connections")
	}
}

// elsewhere is a server that only a proxy can reach.
const elsewhere = "http://bedrock.invalid:7700"

// proxyVariable tells TestThroughTheProxy that it was started for a proxy.
const proxyVariable = "BEDROCK_TEST_PROXY"

// The environment is read once per process, so that another one asks the proxy.
func TestAProxyIsAsked(t *testing.T) {
	asked := make(chan string, 8)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Scheme + "://" + r.URL.Host
		w.WriteHeader(http.StatusBadGateway)
	}))
	defer proxy.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	other := exec.CommandContext(t.Context(), self, "-test.run=^TestThroughTheProxy$")
	other.Env = append(os.Environ(), "HTTP_PROXY="+proxy.URL, proxyVariable+"="+proxy.URL, "http_proxy=", "NO_PROXY=",
		"no_proxy=")
	if out, err := other.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	select {
	case got := <-asked:
		if got != elsewhere {
			t.Error("asked for", got)
		}
	default:
		t.Error("not asked")
	}
}

func TestThroughTheProxy(t *testing.T) {
	if os.Getenv("HTTP_PROXY") != os.Getenv(proxyVariable) || os.Getenv(proxyVariable) == "" {
		t.Skip("TestAProxyIsAsked runs this")
	}
	c := dial(t, elsewhere, &client.Options{Patience: -1})
	if _, err := one("echo").Run(t.Context(), c, nil); err == nil {
		t.Error("reached")
	}
}
