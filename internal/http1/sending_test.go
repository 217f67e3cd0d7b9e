package http1

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// wire is a connection whose writes are counted, and fail when it is cut.
type wire struct {
	net.Conn
	writes atomic.Int64
	cut    atomic.Int64 // 1 + how many bytes a write still takes; 0: not cut
}

func (w *wire) Write(p []byte) (int, error) {
	w.writes.Add(1)
	if cut := w.cut.Load(); cut > 0 {
		n, _ := w.Conn.Write(p[:cut-1])
		return n, syscall.EPIPE
	}
	return w.Conn.Write(p)
}

// wired returns a pool and the connections that it has made.
func wired(t *testing.T) (p *Pool, made func() []*wire) {
	t.Helper()
	var all []*wire // the tests here make one request at a time
	return newPool(t, func(o *Options) {
		o.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := new(net.Dialer).DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			all = append(all, &wire{Conn: c})
			return all[len(all)-1], nil
		}
	}), func() []*wire { return all }
}

func TestARequestIsOneWrite(t *testing.T) {
	s := saying(t, empty)
	p, made := wired(t)
	for range 3 {
		wantReply(t, p, s.url(), "")
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url().String(),
		io.NopCloser(strings.NewReader("body")))
	if err != nil {
		t.Fatal(err)
	}
	r.ContentLength = 4
	reply, err := p.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	reply.Body.Close()
	if n := made()[0].writes.Load(); n != 4 || len(made()) != 1 {
		t.Error(n, "writes,", len(made()), "connections")
	}
}

// A connection that takes nothing has sent nothing: the next one gets the request,
// which the server sees once.
func TestADeadConnectionIsReplaced(t *testing.T) {
	s := saying(t, empty)
	p, made := wired(t)
	wantReply(t, p, s.url(), "")
	made()[0].cut.Store(1)
	wantReply(t, p, s.url(), "")
	if n := s.requests.Load(); n != 2 || len(made()) != 2 {
		t.Error(n, "requests,", len(made()), "connections")
	}
}

// As soon as a byte has left, nobody knows what the server makes of it. The error says
// why the rest could not be sent, not that there was no reply.
func TestWhatHasLeftIsNotRepeated(t *testing.T) {
	s := answering(t, func(s *peer, c net.Conn, r *bufio.Reader) {
		s.answer(c, r, empty)
		_, _ = r.ReadByte()
	})
	p, made := wired(t)
	wantReply(t, p, s.url(), "")
	made()[0].cut.Store(2)
	_, err := post(t.Context(), t, p, s.url(), "")
	if _, unsent := errors.AsType[*UnsentError](err); unsent || !errors.Is(err, syscall.EPIPE) || len(made()) != 1 {
		t.Error(err, len(made()), "connections")
	}
}

// A server may answer before it has read everything, and its answer counts.
func TestAnEarlyAnswerCounts(t *testing.T) {
	s := answering(t, func(_ *peer, c net.Conn, r *bufio.Reader) {
		_, _ = r.ReadByte()
		_, _ = io.WriteString(c, "HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
	})
	p := newPool(t, func(o *Options) {
		o.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := new(net.Dialer).DialContext(ctx, network, address)
			w := &wire{Conn: c}
			w.cut.Store(2)
			return w, err
		}
	})
	r, err := post(t.Context(), t, p, s.url(), "")
	if err != nil || r.Status != http.StatusRequestEntityTooLarge {
		t.Fatal(r, err)
	}
	r.Close()
	if p.count() != 0 {
		t.Error("a connection is used again on which half a request was sent")
	}
}

// A new connection that takes nothing is no reason to make more of them.
func TestANewConnectionIsNotReplaced(t *testing.T) {
	dials := 0
	p := newPool(t, func(o *Options) {
		o.Dial = func(context.Context, string, string) (net.Conn, error) {
			dials++
			here, there := net.Pipe()
			there.Close()
			return here, nil
		}
	})
	_, err := post(t.Context(), t, p, saying(t, empty).url(), "")
	if _, unsent := errors.AsType[*UnsentError](err); !unsent || dials != 1 {
		t.Error(err, dials, "dials")
	}
}

func TestUnsent(t *testing.T) {
	s := saying(t, empty)
	reason := errors.New("reason")
	over, cancel := context.WithCancelCause(t.Context())
	cancel(reason)
	failing := newPool(t, func(o *Options) {
		o.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, reason }
	})
	for name, err := range map[string]error{
		"over":          second(post(over, t, newPool(t, nil), s.url(), "")),
		"not connected": second(post(t.Context(), t, failing, s.url(), "")),
	} {
		if _, unsent := errors.AsType[*UnsentError](err); !unsent || !errors.Is(err, reason) ||
			err.Error() != "reason" {
			t.Error(name, err)
		}
	}
	if s.connections.Load() != 0 {
		t.Error("connected")
	}
}

func second(_ *Reply, err error) error { return err }

// The end of a context ends whatever waits, with its cause.
func TestTheContextEndsAllWaiting(t *testing.T) {
	for name, text := range map[string]string{
		"head":          "",
		"status":        "HTTP/1.1 20",
		"fields":        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nA: b",
		"end of fields": "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			reason := errors.New("reason")
			s := answering(t, func(s *peer, c net.Conn, r *bufio.Reader) {
				s.answer(c, r, text)
				cancel(reason)
				_, _ = io.Copy(io.Discard, r)
			})
			p := newPool(t, nil)
			_, err := post(ctx, t, p, s.url(), "")
			if _, unsent := errors.AsType[*UnsentError](err); unsent || !errors.Is(err, reason) {
				t.Error(err)
			}
		})
	}
}

func TestTheContextEndsReadingABody(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := answering(t, func(s *peer, c net.Conn, r *bufio.Reader) {
		s.answer(c, r, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n1")
		_, _ = io.Copy(io.Discard, r)
	})
	p := newPool(t, nil)
	r, err := post(ctx, t, p, s.url(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if n, err := r.Read(make([]byte, 2)); n != 1 || err != nil {
		t.Error(n, err)
	}
	cancel()
	if n, err := r.Read(make([]byte, 2)); n != 0 || err == nil {
		t.Error(n, err)
	}
}

// Whoever does not read is given up in time.
func TestTheContextEndsWriting(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	hold := make(chan struct{})
	s := answering(t, func(_ *peer, c net.Conn, _ *bufio.Reader) {
		_, _ = c.Read(make([]byte, 1))
		cancel()
		<-hold
	})
	defer close(hold)
	_, err := post(ctx, t, newPool(t, nil), s.url(), strings.Repeat("x", 32<<20))
	if _, unsent := errors.AsType[*UnsentError](err); unsent || !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A body arrives whole, whether it is copied behind the head or not.
func TestBodiesOfEverySize(t *testing.T) {
	to := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || int64(len(body)) != r.ContentLength || strings.Trim(string(body), "x") != "" {
			w.WriteHeader(http.StatusBadRequest)
		}
	})
	p := newPool(t, nil)
	for _, size := range []int{0, 1, together, together + 1, reusable, 8 << 20} {
		r, err := post(t.Context(), t, p, to, strings.Repeat("x", size))
		if err != nil || r.Status != http.StatusOK {
			t.Error(size, r, err)
			continue
		}
		r.Close()
	}
	if p.count() != 1 {
		t.Error(p.count(), "connections")
	}
}
