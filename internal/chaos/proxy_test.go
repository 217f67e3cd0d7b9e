package chaos_test

import (
	"errors"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bedrock-go/bedrock/internal/chaos"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// echo is a server that answers what it is asked and remembers it.
type echo struct {
	listener net.Listener
	running  sync.WaitGroup
	mu       sync.Mutex
	heard    strings.Builder
}

// setup starts an echo server behind a proxy.
func setup(t *testing.T) (*chaos.Proxy, *echo) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &echo{listener: listener}
	server.running.Go(server.accept)
	proxy, err := chaos.New(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := proxy.Close(); err != nil {
			t.Error(err)
		}
		_ = listener.Close()
		server.running.Wait()
	})
	return proxy, server
}

func (e *echo) accept() {
	for {
		conn, err := e.listener.Accept()
		if err != nil {
			return
		}
		e.running.Go(func() { e.answer(conn) })
	}
}

func (e *echo) answer(conn net.Conn) {
	defer conn.Close()
	buf := make([]byte, 100)
	for {
		n, err := conn.Read(buf)
		if err != nil {
			return
		}
		e.mu.Lock()
		e.heard.Write(buf[:n])
		e.mu.Unlock()
		if _, err := conn.Write(buf[:n]); err != nil {
			return
		}
	}
}

func (e *echo) all() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.heard.String()
}

func connect(t *testing.T, p *chaos.Proxy) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// ask sends text and waits for the answer.
func ask(conn net.Conn, text string, patience time.Duration) (string, error) {
	_ = conn.SetDeadline(time.Now().Add(patience))
	if _, err := conn.Write([]byte(text)); err != nil {
		return "", err
	}
	buf := make([]byte, 100)
	n, err := conn.Read(buf)
	return string(buf[:n]), err
}

func wantAnswer(t *testing.T, conn net.Conn, text string) {
	t.Helper()
	if got, err := ask(conn, text, 5*time.Second); err != nil || got != text {
		t.Fatalf("ask %q = %q, %v", text, got, err)
	}
}

func TestProxyForwards(t *testing.T) {
	p, _ := setup(t)
	wantAnswer(t, connect(t, p), "hello")
	if got, want := p.Evidence(), (chaos.Evidence{Accepted: 1}); got != want {
		t.Fatalf("evidence = %+v, want %+v", got, want)
	}
}

func TestCutClosesAndRefusesUntilHealed(t *testing.T) {
	p, _ := setup(t)
	conn := connect(t, p)
	wantAnswer(t, conn, "a")
	p.Cut()
	if got, err := ask(conn, "b", 5*time.Second); err == nil {
		t.Fatalf("a cut connection answered %q", got)
	}
	// The reset may come before the connection is known to be made, or after.
	if conn, err := net.Dial("tcp", p.Addr()); err == nil {
		defer conn.Close()
		if got, err := ask(conn, "c", 5*time.Second); err == nil {
			t.Fatalf("a new connection answered %q while cut", got)
		}
	}
	p.Heal()
	wantAnswer(t, connect(t, p), "d")
	if e := p.Evidence(); e.Cut != 1 || e.Refused != 1 || e.Accepted != 2 {
		t.Fatalf("evidence = %+v, want 1 cut, 1 refused, 2 accepted", e)
	}
}

func TestBlackHoleSwallowsOneDirection(t *testing.T) {
	for _, tt := range []struct {
		name  string
		hole  chaos.Direction
		heard string
	}{
		{"requests", chaos.Requests, "a"},
		{"replies", chaos.Replies, "abc"},
		{"both", chaos.Both, "a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, server := setup(t)
			conn := connect(t, p)
			wantAnswer(t, conn, "a")
			p.BlackHole(tt.hole)
			_, err := ask(conn, "bc", 100*time.Millisecond)
			if !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatalf("ask through a black hole: %v, want a timeout", err)
			}
			if got := server.all(); got != tt.heard {
				t.Errorf("server heard %q, want %q", got, tt.heard)
			}
			p.Heal()
			if _, err := ask(conn, "d", 5*time.Second); err == nil {
				t.Error("a connection with a gap lived on")
			}
			if e := p.Evidence(); e.BytesSwallowed != 2 || e.Cut != 1 {
				t.Errorf("evidence = %+v, want 2 bytes swallowed, 1 cut", e)
			}
			wantAnswer(t, connect(t, p), "e")
		})
	}
}

func TestStrandedConnectionsAreSilentAndNewOnesWork(t *testing.T) {
	p, server := setup(t)
	conn := connect(t, p)
	wantAnswer(t, conn, "a")
	p.Strand()
	if _, err := ask(conn, "bc", 100*time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("ask over a stranded connection: %v, want a timeout", err)
	}
	wantAnswer(t, connect(t, p), "d")
	if got := server.all(); got != "ad" {
		t.Errorf("server heard %q, want %q", got, "ad")
	}
	if e := p.Evidence(); e.BytesSwallowed != 2 || e.Accepted != 2 {
		t.Errorf("evidence = %+v, want 2 bytes swallowed, 2 accepted", e)
	}
}

func TestConnectionIsStrandedAfterARequest(t *testing.T) {
	p, server := setup(t)
	conn, other := connect(t, p), connect(t, p)
	p.StrandAfter("COMMIT", 1)
	wantAnswer(t, conn, "begin")
	if _, err := ask(conn, "commit", 100*time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("ask: %v, want a timeout", err)
	}
	wantAnswer(t, other, "commit")
	if got := server.all(); got != "begincommitcommit" {
		t.Errorf("server heard %q, want all", got)
	}
}

func TestDelayHoldsUpBothWays(t *testing.T) {
	p, _ := setup(t)
	conn := connect(t, p)
	p.Delay(30 * time.Millisecond)
	start := time.Now()
	wantAnswer(t, conn, "a")
	if took := time.Since(start); took < 60*time.Millisecond {
		t.Fatalf("answered after %v, want at least 60ms", took)
	}
	if e := p.Evidence(); e.Delayed != 2 {
		t.Fatalf("evidence = %+v, want 2 delayed", e)
	}
}

func TestDroppedReplyReachedTheServer(t *testing.T) {
	p, server := setup(t)
	greeted := connect(t, p)
	p.DropRepliesTo("LOCK", 1)
	wantAnswer(t, greeted, "hello")
	if got, err := ask(greeted, "lock it", 5*time.Second); err == nil {
		t.Fatalf("got reply %q, want it lost", got)
	}
	if got := server.all(); got != "hellolock it" {
		t.Fatalf("server heard %q, want the request", got)
	}
	wantAnswer(t, connect(t, p), "lock again")
	p.DropReplies(1)
	if got, err := ask(connect(t, p), "x", 5*time.Second); err == nil {
		t.Fatalf("got reply %q, want it lost", got)
	}
	if e := p.Evidence(); e.RepliesLost != 2 || e.Cut != 2 || e.BytesSwallowed != 8 {
		t.Fatalf("evidence = %+v, want 2 replies of 8 bytes lost, 2 cut", e)
	}
}

func TestCloseEndsDelayedConnections(t *testing.T) {
	p, _ := setup(t)
	conn := connect(t, p)
	wantAnswer(t, conn, "a")
	p.Delay(time.Hour)
	if _, err := conn.Write([]byte("b")); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
}
