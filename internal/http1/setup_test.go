package http1

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// newPool returns a pool whose idle connections are closed with the test.
func newPool(t testing.TB, change func(*Options)) *Pool {
	t.Helper()
	o := Options{Dial: new(net.Dialer).DialContext, PerHost: 8, Idle: time.Minute}
	if change != nil {
		change(&o)
	}
	p := New(o)
	t.Cleanup(p.CloseIdleConnections)
	return p
}

// count returns how many connections are idle in a pool.
func (p *Pool) count() (idle int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, all := range p.idle {
		idle += len(all)
	}
	return idle
}

// age makes all idle connections as old as connections get.
func (p *Pool) age() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, all := range p.idle {
		for _, c := range all {
			c.since = c.since.Add(-p.opts.Idle)
		}
	}
}

// peer is a server of which is known what it has been given.
type peer struct {
	address     string
	connections atomic.Int64
	requests    atomic.Int64
}

func (s *peer) url() *url.URL { return &url.URL{Scheme: "http", Host: s.address, Path: "/"} }

// answering starts a server that handles each connection with a function.
func answering(t testing.TB, handle func(s *peer, c net.Conn, requests *bufio.Reader)) *peer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &peer{address: l.Addr().String()}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.connections.Add(1)
			running.Go(func() {
				defer c.Close()
				handle(s, c, bufio.NewReader(c))
			})
		}
	})
	t.Cleanup(func() { l.Close(); running.Wait() })
	return s
}

// saying starts a server that gives one answer to every request.
func saying(t testing.TB, text string) *peer {
	t.Helper()
	return answering(t, func(s *peer, c net.Conn, requests *bufio.Reader) {
		for s.answer(c, requests, text) {
		}
	})
}

// answer answers one request; false when there is none any more.
func (s *peer) answer(c net.Conn, requests *bufio.Reader, text string) bool {
	r, err := http.ReadRequest(requests)
	if err != nil {
		return false
	}
	_, _ = io.Copy(io.Discard, r.Body)
	s.requests.Add(1)
	_, err = io.WriteString(c, text)
	return err == nil
}

const (
	empty = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
	one   = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1"
)

// serve starts a server of the standard library.
func serve(t testing.TB, h http.HandlerFunc) *url.URL {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// post makes a request.
func post(ctx context.Context, t testing.TB, p *Pool, to *url.URL, body string) (*Reply, error) {
	t.Helper()
	start, err := Start(to, "test")
	if err != nil {
		t.Fatal(err)
	}
	return p.Post(ctx, Address(to), func(b []byte) []byte { return append(b, start...) }, []byte(body))
}

// wantReply makes a request that must be answered with 200 and a body.
func wantReply(t testing.TB, p *Pool, to *url.URL, body string) {
	t.Helper()
	r, err := post(t.Context(), t, p, to, "{}")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, err := io.ReadAll(r); err != nil || string(got) != body || r.Status != http.StatusOK {
		t.Errorf("%d, %q, %v; want %q", r.Status, got, err, body)
	}
}
