package etcdlock_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// TestReadsTellWhyNoServerIsReached: what only reads is asked again until its time is up, which does not tell what is
// wrong.
func TestReadsTellWhyNoServerIsReached(t *testing.T) {
	t.Parallel()
	nobody := testenv.Nobody(t)
	web := httptest.NewServer(nil)
	t.Cleanup(web.Close)
	silent, closing := testenv.SaysNothing(t), testenv.HangsUp(t)
	for addr, want := range map[string][]string{
		nobody:                       {nobody, "connection refused"},
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

// TestSilenceIsToldWithoutTheServer: who asks for a lock is told which server says nothing, and that it was not asked.
func TestSilenceIsToldWithoutTheServer(t *testing.T) {
	t.Parallel()
	addr := testenv.SaysNothing(t)
	b := newBackend(t, connect(t, addr), nil)
	req := driver.Request{Name: "a", Owner: "o:1", TTL: time.Minute, Tokens: 1}
	_, err := b.Acquire(contextFor(t, time.Second), req)
	if !errors.Is(err, driver.ErrUnavailable) || !strings.Contains(err.Error(), addr+": no answer") {
		t.Errorf("got %v", err)
	}
}
