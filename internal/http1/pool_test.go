package http1

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"
)

func TestConnectionsAreUsedAgain(t *testing.T) {
	for name, text := range map[string]string{
		"length":     one,
		"keep-alive": "HTTP/1.1 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\n1",
		"chunked":    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n1\r\n0\r\n\r\n",
		"hints":      "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + one,
		"long head":  "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 10_000) + "\r\nContent-Length: 1\r\n\r\n1",
	} {
		t.Run(name, func(t *testing.T) {
			s := saying(t, text)
			p := newPool(t, nil)
			for range 10 {
				wantReply(t, p, s.url(), "1")
			}
			if n := s.connections.Load(); n != 1 {
				t.Error(n, "connections")
			}
		})
	}
}

// What comes after a reply belongs to no request, least of all to the next one.
func TestConnectionsThatAreNotUsedAgain(t *testing.T) {
	for name, text := range map[string]string{
		"close":    "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\n1",
		"closes":   "HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 1\r\n\r\n1",
		"HTTP/1.0": "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n1",
		"two":      one + one,
		"more":     one + "x",
	} {
		t.Run(name, func(t *testing.T) {
			s := saying(t, text)
			p := newPool(t, nil)
			for range 5 {
				wantReply(t, p, s.url(), "1")
			}
			if n := s.connections.Load(); n != 5 || p.count() != 0 {
				t.Error(n, "connections,", p.count(), "idle")
			}
		})
	}
}

// What is left of a reply may come at any time.
func TestAConnectionWithAReplyUnreadIsNotUsedAgain(t *testing.T) {
	s := saying(t, "HTTP/1.1 200 OK\r\nContent-Length: 104857600\r\n\r\n")
	p := newPool(t, nil)
	r, err := post(t.Context(), t, p, s.url(), "")
	if err != nil || r.Length != 100<<20 {
		t.Fatal(r, err)
	}
	r.Close()
	if p.count() != 0 {
		t.Error("kept")
	}
}

// A server that was restarted, or says something unasked, is connected to anew, and
// the request does not fail.
func TestAnIdleConnectionThatIsNotQuiet(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("nothing looks into sockets here")
	}
	for name, last := range map[string]string{"closed": "", "talks": one} {
		t.Run(name, func(t *testing.T) {
			release, said := make(chan struct{}), make(chan struct{})
			s := answering(t, func(s *peer, c net.Conn, r *bufio.Reader) {
				s.answer(c, r, empty)
				if s.connections.Load() == 1 {
					<-release
					_, _ = io.WriteString(c, last)
					if last == "" {
						c.Close()
					}
					close(said)
				}
				_, _ = io.Copy(io.Discard, r)
			})
			p := newPool(t, nil)
			wantReply(t, p, s.url(), "")
			close(release)
			<-said
			wantReply(t, p, s.url(), "")
			if n := s.connections.Load(); n != 2 {
				t.Error(n, "connections")
			}
		})
	}
}

func TestIdleConnectionsAreBounded(t *testing.T) {
	const requests = 8
	var together sync.WaitGroup
	together.Add(requests)
	to := serve(t, func(http.ResponseWriter, *http.Request) {
		together.Done()
		together.Wait()
	})
	p := newPool(t, func(o *Options) { o.PerHost = 3 })
	var all sync.WaitGroup
	for range requests {
		all.Go(func() { wantReply(t, p, to, "") })
	}
	all.Wait()
	if n := p.count(); n != 3 {
		t.Error(n, "idle")
	}
}

func TestTheReaperTakesTheOld(t *testing.T) {
	to := serve(t, func(http.ResponseWriter, *http.Request) {})
	p := newPool(t, nil)
	wantReply(t, p, to, "")
	n := p.count()
	p.reap()
	if left := p.count(); n != 1 || left != 1 || p.reaper == nil {
		t.Error("a young connection was closed:", n, left)
	}
	p.age()
	p.reap()
	if p.count() != 0 || p.reaper != nil || len(p.idle) != 0 {
		t.Error("an old connection was kept")
	}
}

// Between two visits of the reaper the old are not used either.
func TestAnOldConnectionIsNotUsedAgain(t *testing.T) {
	s := saying(t, empty)
	p := newPool(t, nil)
	wantReply(t, p, s.url(), "")
	p.age()
	wantReply(t, p, s.url(), "")
	if n := s.connections.Load(); n != 2 || p.count() != 1 {
		t.Error(n, "connections,", p.count(), "idle")
	}
}

func TestHeadersAreBounded(t *testing.T) {
	line := "A: " + strings.Repeat("b", 1<<10) + "\r\n"
	for name, text := range map[string]string{
		"one":     "HTTP/1.1 200 OK\r\n" + strings.Repeat(line, 64) + "\r\n",
		"line":    "HTTP/1.1 200 OK\r\nA: " + strings.Repeat("b", 64<<10) + "\r\n\r\n",
		"interim": strings.Repeat("HTTP/1.1 103 Early Hints\r\n"+line+"\r\n", 64),
	} {
		r, err := post(t.Context(), t, newPool(t, nil), saying(t, text).url(), "")
		if err == nil {
			t.Error(name, r)
		}
	}
}

// A connection is not used again after its request was given up, even if the reply has
// arrived at the same moment.
func TestARequestGivenUpSpoilsItsConnection(t *testing.T) {
	to := serve(t, func(http.ResponseWriter, *http.Request) {})
	p := newPool(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	r, err := post(ctx, t, p, to, "")
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	r.Close()
	r.Close() // which must not do it twice
	if n := p.count(); n != 0 {
		t.Error("kept")
	}
}

func TestAReplyIsNotReadAfterItsEnd(t *testing.T) {
	s := saying(t, one)
	r, err := post(t.Context(), t, newPool(t, nil), s.url(), "")
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	if n, err := r.Read(make([]byte, 1)); n != 0 || !errors.Is(err, errClosed) {
		t.Error(n, err)
	}
}

func TestAddress(t *testing.T) {
	for text, want := range map[string]string{
		"http://a/": "a:80", "http://a:/": "a:80", "http://a:81/": "a:81", "http://[::1]/": "[::1]:80",
		"http://[::1]:81/": "[::1]:81",
	} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := Address(u); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
