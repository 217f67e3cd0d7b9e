package httpcall

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bedrock-go/bedrock/internal/overdue"
	"github.com/bedrock-go/bedrock/txn"
)

// service is a participant of which is known how many connections it has been given.
type service struct {
	target      txn.Target
	connections atomic.Int64
}

// answering starts one that answers the requests of a connection by that function.
func answering(t *testing.T, answer func(c net.Conn, requests *bufio.Reader)) *service {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &service{target: txn.Target("http://" + l.Addr().String())}
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
				answer(c, bufio.NewReader(c))
			})
		}
	})
	t.Cleanup(func() { l.Close(); running.Wait() })
	return s
}

// answer answers one request; false when there is none any more.
func answer(c net.Conn, requests *bufio.Reader, text string) bool {
	r, err := http.ReadRequest(requests)
	if err != nil {
		return false
	}
	_, _ = io.Copy(io.Discard, r.Body)
	_, err = io.WriteString(c, text)
	return err == nil
}

const (
	empty = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
	one   = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1"
)

func newCaller(t *testing.T, opts *Options) *Caller {
	t.Helper()
	c, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func wantDone(t *testing.T, c *Caller, target txn.Target, result string) {
	t.Helper()
	got := c.Call(t.Context(), target, txn.Call{Transaction: "t", Op: "o", Payload: []byte("{}")})
	if got.Kind != txn.AnswerDone || string(got.Result) != result {
		t.Errorf("%+v, want %q", got, result)
	}
}

func TestConnectionsAreUsedAgain(t *testing.T) {
	for name, text := range map[string]string{
		"empty":   empty,
		"length":  one,
		"chunked": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n1\r\n0\r\n\r\n",
		"refusal": "HTTP/1.1 409 No\r\nContent-Length: 3\r\n\r\nno!",
		"hints":   "HTTP/1.1 103 Early Hints\r\n\r\n" + one,
		"none":    "HTTP/1.1 204 No Content\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			s := answering(t, func(c net.Conn, r *bufio.Reader) {
				for answer(c, r, text) {
				}
			})
			c := newCaller(t, nil)
			for range 10 {
				got := c.Call(t.Context(), s.target, txn.Call{Transaction: "t", Op: "o"})
				if got.Kind != txn.AnswerDone && got.Kind != txn.AnswerRefused {
					t.Error(got)
				}
			}
			if n := s.connections.Load(); n != 1 {
				t.Error(n, "connections")
			}
		})
	}
}

// What comes after a reply belongs to no call, least of all to the next one.
func TestConnectionsThatAreNotUsedAgain(t *testing.T) {
	for name, text := range map[string]string{
		"close":       "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\n1",
		"HTTP/1.0":    "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n1",
		"two replies": one + "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n2",
		"more":        one + "x",
	} {
		t.Run(name, func(t *testing.T) {
			s := answering(t, func(c net.Conn, r *bufio.Reader) {
				for answer(c, r, text) {
				}
			})
			c := newCaller(t, nil)
			for range 5 {
				wantDone(t, c, s.target, "1")
			}
			if n := s.connections.Load(); n != 5 {
				t.Error(n, "connections")
			}
		})
	}
}

// What is left of a reply may come at any time.
func TestAConnectionWithAReplyUnreadIsNotUsedAgain(t *testing.T) {
	s := answering(t, func(c net.Conn, r *bufio.Reader) {
		answer(c, r, "HTTP/1.1 200 OK\r\nContent-Length: 104857600\r\n\r\n")
		_, _ = io.Copy(io.Discard, r)
	})
	c := newCaller(t, nil)
	for range 5 {
		wantDone(t, c, s.target, "")
	}
	if n := s.connections.Load(); n != 5 {
		t.Error(n, "connections")
	}
}

// A participant that was restarted, or says something unasked, is connected to anew,
// and the call does not fail.
func TestAnIdleConnectionThatIsNotQuiet(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("nothing looks into sockets here")
	}
	for name, last := range map[string]string{"closed": "", "talks": one} {
		t.Run(name, func(t *testing.T) {
			release, said := make(chan struct{}), make(chan struct{})
			var first atomic.Bool
			first.Store(true)
			s := answering(t, func(c net.Conn, r *bufio.Reader) {
				answer(c, r, empty)
				if first.Swap(false) {
					<-release
					_, _ = io.WriteString(c, last)
					if last == "" {
						c.Close()
					}
					close(said)
				}
				_, _ = io.Copy(io.Discard, r)
			})
			c := newCaller(t, nil)
			wantDone(t, c, s.target, "")
			close(release)
			<-said
			wantDone(t, c, s.target, "")
			if n := s.connections.Load(); n != 2 {
				t.Error(n, "connections")
			}
		})
	}
}

func TestIdleConnectionsAreBounded(t *testing.T) {
	const calls, kept = 8, 3
	var together, surplus sync.WaitGroup
	together.Add(calls)
	surplus.Add(calls - kept) // one more would be a panic
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		together.Done()
		together.Wait()
	}))
	var ending atomic.Bool
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed && !ending.Load() {
			surplus.Done()
		}
	}
	s.Start()
	defer s.Close()
	c := newCaller(t, &Options{PerHost: kept})
	var all sync.WaitGroup
	for range calls {
		all.Go(func() { wantDone(t, c, txn.Target(s.URL), "") })
	}
	all.Wait()
	surplus.Wait()
	ending.Store(true)
}

// Whoever does not read is given up in time.
func TestAParticipantThatDoesNotRead(t *testing.T) {
	ctx := overdue.New()
	s := answering(t, func(c net.Conn, _ *bufio.Reader) {
		var b [1]byte
		_, _ = c.Read(b[:])
		ctx.Come()
		hold := make(chan struct{})
		context.AfterFunc(t.Context(), func() { close(hold) })
		<-hold
	})
	payload := make([]byte, 32<<20)
	got := newCaller(t, nil).Call(ctx, s.target, txn.Call{Transaction: "t", Op: "o", Payload: payload})
	if got.Kind != txn.AnswerFailed || !got.Down {
		t.Error(got)
	}
}
