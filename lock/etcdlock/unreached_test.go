package etcdlock_test

import (
	"context"
	"errors"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// TestReadsTellWhyNoServerIsReached: what only reads is asked again until its time is up, which does not tell what is
// wrong.
func TestReadsTellWhyNoServerIsReached(t *testing.T) {
	t.Parallel()
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := nobody.Close(); err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(nil)
	t.Cleanup(web.Close)
	silent, closing := listen(t, false), listen(t, true)
	for addr, want := range map[string][]string{
		nobody.Addr().String():       {nobody.Addr().String(), "connection refused"},
		web.Listener.Addr().String(): {"no etcd, or asks for TLS"},
		silent:                       {silent, "no answer: it hangs, or is no etcd"},
		closing:                      {closing, "closes the connection: it is no etcd"},
	} {
		b := newBackend(t, connect(t, addr), nil)
		looks, latches := b.(driver.Inspector), b.(driver.Latches)
		for what, call := range map[string]func(ctx context.Context) error{
			"list":     func(ctx context.Context) error { _, err := looks.List(ctx, "", 1); return err },
			"inspect":  func(ctx context.Context) error { _, err := looks.Inspect(ctx, "a"); return err },
			"check":    func(ctx context.Context) error { _, err := b.(driver.Checker).Check(ctx); return err },
			"identify": func(ctx context.Context) error { _, err := b.(driver.Identifier).Identity(ctx); return err },
			"latch":    func(ctx context.Context) error { _, err := latches.LatchCount(ctx, "a"); return err },
		} {
			t.Run(what, func(t *testing.T) {
				t.Parallel()
				err := call(contextFor(t, time.Second))
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Fatal(err)
				}
				for _, text := range want {
					if !strings.Contains(err.Error(), text) {
						t.Errorf("%v; want %q", err, text)
					}
				}
			})
		}
	}
}

// listen returns the address of a server that says nothing to who calls it, or hangs up on him.
func listen(t *testing.T, hangsUp bool) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if hangsUp {
				_ = conn.Close()
			} else {
				defer conn.Close()
			}
		}
	}()
	return l.Addr().String()
}

// TestSilenceIsToldWithoutTheServer: who asks for a lock is told which server says nothing, and that it was not asked.
func TestSilenceIsToldWithoutTheServer(t *testing.T) {
	t.Parallel()
	addr := listen(t, false)
	b := newBackend(t, connect(t, addr), nil)
	req := driver.Request{Name: "a", Owner: "o:1", TTL: time.Minute, Tokens: 1}
	_, err := b.Acquire(contextFor(t, time.Second), req)
	if !errors.Is(err, driver.ErrUnavailable) || !strings.Contains(err.Error(), addr+": no answer") {
		t.Errorf("got %v", err)
	}
}
