package zklock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"go.uber.org/goleak"

	"github.com/bedrock-go/bedrock/internal/chaos"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/zklock"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// long is a session that outlasts leases of an hour.
func long() *zklock.Options { return &zklock.Options{Session: 2 * time.Hour} }

// ctxFor bounds a test, so that a call that hangs ends it.
func ctxFor(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// open makes a backend that is closed with the test.
func open(t testing.TB, opts *zklock.Options, servers ...string) driver.Backend {
	t.Helper()
	b, err := zklock.NewBackend(ctxFor(t), servers, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

// connect makes a client that is stopped with the test.
func connect(t testing.TB, opts *zklock.Options, servers ...string) *lock.Client {
	t.Helper()
	c, err := zklock.Connect(ctxFor(t), servers, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Stop(ctxFor(t)) })
	return c
}

// proxyTo starts a proxy in front of a server.
func proxyTo(t testing.TB, addr string) *chaos.Proxy {
	t.Helper()
	proxy, err := chaos.New(addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = proxy.Close() })
	return proxy
}

// raw connects with the client library alone, as somebody else would.
func raw(t testing.TB, server *testenv.ZooKeeperServer) *zk.Conn {
	t.Helper()
	conn, events, err := zk.Connect([]string{server.Addr()}, time.Minute, zk.WithLogInfo(false), zk.WithLogger(quiet{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		conn.Close()
		for range events { // until it has ended
		}
	})
	return conn
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

// request asks for a usual lease.
func request(name, owner string) driver.Request {
	return driver.Request{Name: name, Owner: owner, TTL: 10 * time.Second, Tokens: 1}
}

// mustAcquire acquires what is free.
func mustAcquire(t testing.TB, b driver.Backend, req driver.Request) driver.Grant {
	t.Helper()
	g, err := b.Acquire(ctxFor(t), req)
	if err != nil {
		t.Fatalf("acquire %q for %s: %v", req.Name, req.Owner, err)
	}
	return g
}

// mustBeHeld wants a refusal, and returns it.
func mustBeHeld(t testing.TB, b driver.Backend, req driver.Request) *driver.HeldError {
	t.Helper()
	g, err := b.Acquire(ctxFor(t), req)
	held, ok := errors.AsType[*driver.HeldError](err)
	if !ok {
		t.Fatalf("acquire %q: want a refusal, got token %d and %v", req.Name, g.Token, err)
	}
	return held
}

// eventually waits until cond holds.
func eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !cond(); {
		if time.Now().After(end) {
			t.Fatalf("waited in vain: %s", what)
		}
		<-time.After(2 * time.Millisecond)
	}
}

// mustRelease gives back what is had.
func mustRelease(t testing.TB, b driver.Backend, g driver.Grant) {
	t.Helper()
	if _, err := b.Release(ctxFor(t), g); err != nil {
		t.Fatalf("release %q of %s: %v", g.Name, g.Owner, err)
	}
}
