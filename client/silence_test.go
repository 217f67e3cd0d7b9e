package client_test

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/client"
	"github.com/bedrock-go/bedrock/internal/chaos"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/locktest"
	"github.com/bedrock-go/bedrock/txn"
)

// road is a connection in virtual time.
type road struct{ stranded atomic.Bool }

// roads lead to a handler, each for one request at a time, and are kept when they are idle.
type roads struct {
	handler http.Handler

	mu   sync.Mutex
	all  []*road
	idle []*road
}

// strand takes away what is sent over the roads there are; new ones work.
func (r *roads) strand() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, way := range r.all {
		way.stranded.Store(true)
	}
}

func (r *roads) take() *road {
	r.mu.Lock()
	defer r.mu.Unlock()
	if last := len(r.idle) - 1; last >= 0 {
		way := r.idle[last]
		r.idle = r.idle[:last]
		return way
	}
	way := new(road)
	r.all = append(r.all, way)
	return way
}

// widen makes idle roads.
func (r *roads) widen(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for range n {
		way := new(road)
		r.all, r.idle = append(r.all, way), append(r.idle, way)
	}
}

// CloseIdleConnections is called by [http.Client.CloseIdleConnections].
func (r *roads) CloseIdleConnections() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.idle = nil
}

// RoundTrip implements [http.RoundTripper].
func (r *roads) RoundTrip(req *http.Request) (*http.Response, error) {
	way, answer := r.take(), httptest.NewRecorder()
	if !way.stranded.Load() {
		arrived := req.Clone(req.Context())
		arrived.RemoteAddr = "127.0.0.1:1"
		r.handler.ServeHTTP(answer, arrived)
	}
	if way.stranded.Load() {
		<-req.Context().Done()
	}
	if req.Context().Err() != nil {
		return nil, req.Context().Err()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.idle = append(r.idle, way)
	return answer.Result(), nil
}

// overRoads runs a test in virtual time, with a server whose participant is given.
func overRoads(t *testing.T, do txn.Func, test func(ctx context.Context, r *roads, c *client.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		r := &roads{handler: handler(t, engine(t, map[string]txn.Func{"do": do, "undo": do}), nil)}
		test(ctx, r, dial(t, "http://bedrock.invalid", &client.Options{HTTP: &http.Client{Transport: r}}))
	})
}

// TestARunOverADeadConnectionNeverEnds: the connection was taken away before the run, or
// while it waits for its outcome. The transaction is carried out once.
func TestARunOverADeadConnectionNeverEnds(t *testing.T) {
	for _, before := range []bool{true, false} {
		var made atomic.Int64
		var lines *roads
		do := func(context.Context, txn.Call) ([]byte, error) {
			if made.Add(1); !before {
				lines.strand()
			}
			return nil, nil
		}
		overRoads(t, do, func(ctx context.Context, r *roads, c *client.Client) {
			lines = r
			if r.widen(1); before {
				r.strand()
			}
			start := time.Now()
			result, err := one("do").ID("x").Run(ctx, c, nil)
			if err != nil || result.Outcome != txn.Committed || made.Load() != 1 {
				t.Errorf("dead before: %t: result %+v, error %v; done %d times", before, result, err, made.Load())
			}
			if took := time.Since(start); took > 30*time.Second {
				t.Errorf("dead before: %t: took %v", before, took)
			}
		})
	}
}

// TestAWaitOverADeadConnectionNeverEnds: what it waits for takes longer than a round does.
func TestAWaitOverADeadConnectionNeverEnds(t *testing.T) {
	var done atomic.Bool
	do := func(context.Context, txn.Call) ([]byte, error) {
		if done.Load() {
			return nil, nil
		}
		return nil, txn.Pending(time.Second)
	}
	overRoads(t, do, func(ctx context.Context, r *roads, c *client.Client) {
		id, err := one("do").Submit(ctx, c, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.widen(12)
		r.strand()
		start := time.Now()
		time.AfterFunc(37*time.Second, func() { done.Store(true) })
		if result, err := c.Wait(ctx, id); err != nil || result.Outcome != txn.Committed {
			t.Errorf("result %+v, error %v", result, err)
		}
		if took := time.Since(start); took > 45*time.Second {
			t.Error("took", took)
		}
	})
}

// TestAFrozenServerEndsAWait: it is the context that does, however often it was asked.
func TestAFrozenServerEndsAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, "http://bedrock.invalid", &client.Options{HTTP: &http.Client{Transport: silence{}}})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		_, err := c.Wait(ctx, "x")
		if _, ok := errors.AsType[*txn.InDoubtError](err); !ok || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
	})
}

// TestASilentServerTriesPatienceTwice: a lock is given up when patience is over, and not when
// another request has taken as long again.
func TestASilentServerTriesPatienceTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, "http://bedrock.invalid", &client.Options{HTTP: &http.Client{Transport: silence{}}})
		b := c.Backend()
		locks, err := lock.New(b, &lock.Options{Logger: slog.New(slog.DiscardHandler), Patience: 10 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if _, err := locks.Mutex("m", nil).Lock(t.Context()); err == nil {
			t.Error("no error")
		}
		if took := time.Since(start); took > 14*time.Second {
			t.Error("took", took)
		}
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, _ = locks.Stop(short), b.Close()
	})
}

// TestAShortContextFindsOneDeadConnectionAfterAnother: it is over before any patience is.
func TestAShortContextFindsOneDeadConnectionAfterAnother(t *testing.T) {
	do := func(context.Context, txn.Call) ([]byte, error) { return nil, nil }
	overRoads(t, do, func(ctx context.Context, r *roads, c *client.Client) {
		b := c.Backend()
		defer func() { _ = b.Close() }()
		hasty := dial(t, "http://bedrock.invalid", &client.Options{HTTP: &http.Client{Transport: r}, Patience: -1})
		for what, call := range map[string]func(context.Context) error{
			"submit": func(ctx context.Context) error { _, err := one("do").Submit(ctx, c, nil); return err },
			"submit without patience": func(ctx context.Context) error {
				_, err := one("do").Submit(ctx, hasty, nil)
				return err
			},
			"acquire": func(ctx context.Context) error {
				_, err := b.Acquire(ctx, driver.Request{Name: "b", Owner: rand.Text(), TTL: time.Minute, Tokens: 1})
				return err
			},
			"renew": func(ctx context.Context) error {
				err := b.Renew(ctx, []driver.Grant{{Name: "a", Owner: "o", TTL: time.Minute}})[0]
				if errors.Is(err, driver.ErrLost) {
					return nil
				}
				return err
			},
		} {
			r.widen(12)
			r.strand()
			for try := range 2 {
				short, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
				if err := call(short); err != nil && try == 1 {
					t.Errorf("second %s: %v", what, err)
				}
				cancel()
			}
		}
	})
}

// TestASlowServerIsTakenForADeadConnection: it has what is left of patience.
func TestASlowServerIsTakenForADeadConnection(t *testing.T) {
	do := func(context.Context, txn.Call) ([]byte, error) { return nil, nil }
	overRoads(t, do, func(ctx context.Context, r *roads, c *client.Client) {
		quick := r.handler
		r.handler = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			select {
			case <-time.After(6 * time.Second):
				quick.ServeHTTP(w, req)
			case <-req.Context().Done():
			}
		})
		if _, err := one("do").Submit(ctx, c, nil); err != nil {
			t.Error(err)
		}
	})
}

// crowd lets the first calls of Get through when n of them are there, so that as many
// connections are made.
func crowd(h http.Handler, n int) http.Handler {
	var come sync.WaitGroup
	come.Add(n)
	var left atomic.Int64
	left.Store(int64(n))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/Get") && left.Add(-1) >= 0 {
			come.Done()
			come.Wait()
		}
		h.ServeHTTP(w, r)
	})
}

// pooled is a client with n idle connections through a proxy, over TLS or not.
func pooled(t *testing.T, n int, secure bool) (*client.Client, *chaos.Proxy) {
	t.Helper()
	h := crowd(handler(t, engine(t, parts()), nil), n)
	outer := httptest.NewUnstartedServer(h)
	scheme, opts := "http://", &client.Options{}
	if secure {
		outer.StartTLS()
		scheme, opts.TLS = "https://", &tls.Config{RootCAs: x509.NewCertPool()}
		opts.TLS.RootCAs.AddCert(outer.Certificate())
	} else {
		outer.Start()
	}
	t.Cleanup(outer.Close)
	p, err := chaos.New(outer.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	c := dial(t, scheme+p.Addr(), opts)
	var users sync.WaitGroup
	for range n {
		users.Go(func() { _, _ = c.Get(t.Context(), "nobody") })
	}
	users.Wait()
	return c, p
}

// TestEveryCallFindsAnotherDeadConnection: a router has forgotten those of a pool, all at
// once and silently. One call finds out for all, and is answered.
func TestEveryCallFindsAnotherDeadConnection(t *testing.T) {
	for name, secure := range map[string]bool{"plain": false, "TLS": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, p := pooled(t, 12, secure)
			p.Strand()
			if _, err := one("echo").Submit(t.Context(), c, nil); err != nil {
				t.Error(err)
			}
			if seen := p.Evidence(); seen.Accepted < 13 || seen.BytesSwallowed == 0 {
				t.Errorf("evidence %+v", seen)
			}
		})
	}
}

// TestDeadConnectionsLoseALease: it is renewed over a new one in time; and whoever wants
// another lock gets it.
func TestDeadConnectionsLoseALease(t *testing.T) {
	for name, secure := range map[string]bool{"plain": false, "TLS": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, p := pooled(t, 22, secure)
			b, renewed := c.Backend(), make(locktest.Renewals, 1)
			t.Cleanup(func() { _ = b.Close() })
			locks, err := lock.New(b, &lock.Options{TTL: 6 * time.Second, Observer: renewed})
			if err != nil {
				t.Fatal(err)
			}
			lease, err := locks.Mutex("a", nil).Lock(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			p.Strand()
			select {
			case <-renewed:
			case <-lease.Context().Done():
				t.Fatalf("lost: %v", context.Cause(lease.Context()))
			}
			p.Strand()
			other, err := locks.Mutex("b", nil).Lock(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			err = errors.Join(other.Unlock(t.Context()), lease.Unlock(t.Context()), locks.Stop(t.Context()))
			if err != nil {
				t.Error(err)
			}
		})
	}
}
