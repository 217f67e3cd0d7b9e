package redislock_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/chaos"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn"
)

// renewals counts what is observed of leases.
type renewals struct{ renewed, lost atomic.Int64 }

func (r *renewals) Observe(_ context.Context, e lock.Event) {
	if e.Kind == lock.EventRenewed {
		r.renewed.Add(1)
	}
	if e.Kind == lock.EventLost {
		r.lost.Add(1)
	}
}

// goesOn waits until a lease has been renewed so often from now on.
func (r *renewals) goesOn(t *testing.T, lease *lock.Lease, times int64) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.Now().Add(time.Minute)
	for until := r.renewed.Load() + times; r.renewed.Load() < until; <-tick.C {
		if err := lease.Err(); err != nil {
			t.Fatal(err)
		}
		if time.Now().After(deadline) {
			t.Fatal("the lease is not renewed any more")
		}
	}
}

// observedClient is a client whose renewals are counted.
func observedClient(t *testing.T, conn redisconn.Conn, ttl time.Duration) (*lock.Client, *renewals) {
	t.Helper()
	seen := new(renewals)
	locks, err := redislock.New(conn, &redislock.Options{Lock: lock.Options{TTL: ttl, Observer: seen}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = locks.Stop(ctxFor(t)) })
	return locks, seen
}

// TestOneBadRenewalEndsTheLease: an answer to a renewal is lost, and then the server cannot be reached for a while.
func TestOneBadRenewalEndsTheLease(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		const ttl = 5 * time.Second
		proxy := proxyTo(t, testenv.Redis(t, nil))
		locks, seen := observedClient(t, connect(t, target{addrs: []string{proxy.Addr()}}), ttl)
		lease, err := locks.Mutex("a", nil).Lock(ctxFor(t))
		if err != nil {
			t.Fatal(err)
		}
		seen.goesOn(t, lease, 1)
		proxy.DropRepliesTo("evalsha", 1)
		seen.goesOn(t, lease, 2)
		if proxy.Evidence().RepliesLost != 1 {
			t.Errorf("no reply was lost: %+v", proxy.Evidence())
		}
		outage(proxy, 1500*time.Millisecond)
		seen.goesOn(t, lease, 3)
		if n := seen.lost.Load(); n != 0 {
			t.Errorf("%d leases were lost", n)
		}
		if err := lease.Unlock(ctxFor(t)); err != nil {
			t.Error(err)
		}
	})
}

// outage cuts all connections, and lets none be made for so long.
func outage(proxy *chaos.Proxy, d time.Duration) {
	proxy.Cut()
	<-time.After(d)
	proxy.Heal()
}

// TestADeletedLockIsLostTwice: somebody deletes the key. The holder is told once, and what it takes then is renewed.
func TestADeletedLockIsLostTwice(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, nil)
		locks, seen := observedClient(t, connect(t, single(server)), 2*time.Second)
		m := locks.Mutex("a", nil)
		lease, err := m.Lock(ctxFor(t))
		if err != nil {
			t.Fatal(err)
		}
		server.Do("DEL", "a")
		select {
		case <-lease.Context().Done():
		case <-ctxFor(t).Done():
			t.Fatal("the holder is not told")
		}
		if cause := context.Cause(lease.Context()); !errors.Is(cause, lock.ErrLost) {
			t.Errorf("told %v", cause)
		}
		again, err := m.Lock(ctxFor(t))
		if err != nil {
			t.Fatal(err)
		}
		seen.goesOn(t, again, 5)
		if n := seen.lost.Load(); n != 1 {
			t.Errorf("the holder is told %d times", n)
		}
		if err := again.Unlock(ctxFor(t)); err != nil {
			t.Error(err)
		}
	})
}
