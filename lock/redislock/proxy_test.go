package redislock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/chaos"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn"
)

// throughProxy runs a test with two clients of one server, the first of which is
// connected through a proxy.
func throughProxy(t *testing.T, ttl time.Duration, test func(t *testing.T, p *chaos.Proxy, far, near *lock.Client)) {
	t.Helper()
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, nil)
		proxy := proxyTo(t, server)
		far := warmClient(t, connect(t, target{addrs: []string{proxy.Addr()}}), ttl)
		near := warmClient(t, connect(t, single(server)), ttl)
		test(t, proxy, far, near)
	})
}

// warmClient returns a client whose connections and scripts are there already.
func warmClient(t *testing.T, conn redisconn.Conn, ttl time.Duration) *lock.Client {
	t.Helper()
	locks, err := redislock.New(conn, &redislock.Options{Lock: lock.Options{TTL: ttl}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = locks.Stop(ctxFor(t)) })
	lease, err := locks.Mutex("warm up", nil).Lock(ctxFor(t))
	if err == nil {
		err = lease.Unlock(ctxFor(t))
	}
	if err != nil {
		t.Fatal(err)
	}
	return locks
}

// proxyTo starts a proxy in front of a server.
func proxyTo(t testing.TB, server *testenv.RedisServer) *chaos.Proxy {
	t.Helper()
	proxy, err := chaos.New(server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = proxy.Close() })
	return proxy
}

// TestLostReplyToAcquire: the grant nobody has told us of is recognised as ours.
func TestLostReplyToAcquire(t *testing.T) {
	throughProxy(t, time.Minute, func(t *testing.T, p *chaos.Proxy, far, near *lock.Client) {
		p.DropRepliesTo("evalsha", 1)
		lease, err := far.Mutex("a", nil).Lock(ctxFor(t))
		if err != nil {
			t.Fatal(err)
		}
		if p.Evidence().RepliesLost != 1 {
			t.Errorf("no reply was lost: %+v", p.Evidence())
		}
		if err := lease.Unlock(ctxFor(t)); err != nil {
			t.Error(err)
		}
		takeAndRelease(t, near, "a")
	})
}

// TestLostReplyToRelease: the repeated release is recognised by the latch, also
// when the next holder is there already.
func TestLostReplyToRelease(t *testing.T) {
	throughProxy(t, time.Minute, func(t *testing.T, p *chaos.Proxy, far, near *lock.Client) {
		lease, err := far.Mutex("a", nil).Lock(ctxFor(t))
		if err != nil {
			t.Fatal(err)
		}
		next := make(chan error, 1)
		go func() {
			l, err := near.Mutex("a", nil).Lock(ctxFor(t))
			if err == nil {
				err = l.Unlock(ctxFor(t))
			}
			next <- err
		}()
		p.DropRepliesTo("evalsha", 1)
		if err := lease.Unlock(ctxFor(t)); err != nil {
			t.Error(err)
		}
		if p.Evidence().RepliesLost != 1 {
			t.Errorf("no reply was lost: %+v", p.Evidence())
		}
		if err := <-next; err != nil {
			t.Error(err)
		}
	})
}

// TestPartitionedHolder: a holder cut off from the server learns of the loss
// before anybody else can have the lock, and a healed connection serves again.
func TestPartitionedHolder(t *testing.T) {
	throughProxy(t, 2*time.Second, func(t *testing.T, p *chaos.Proxy, far, near *lock.Client) {
		lease, err := far.Mutex("a", nil).Lock(ctxFor(t))
		if err != nil {
			t.Fatal(err)
		}
		p.BlackHole(chaos.Both)
		next, err := near.Mutex("a", nil).Lock(ctxFor(t))
		if err != nil {
			t.Fatal(err)
		}
		if !errors.Is(context.Cause(lease.Context()), lock.ErrLost) {
			t.Errorf("the next holder is there, and the former one has not been told: %v", lease.State())
		}
		if next.Token() <= lease.Token() {
			t.Errorf("token %d after %d", next.Token(), lease.Token())
		}
		if err := next.Unlock(ctxFor(t)); err != nil {
			t.Error(err)
		}
		p.Heal()
		takeAndRelease(t, far, "a")
	})
}

func takeAndRelease(t *testing.T, locks *lock.Client, name string) {
	t.Helper()
	lease, err := locks.Mutex(name, nil).Lock(ctxFor(t))
	if err == nil {
		err = lease.Unlock(ctxFor(t))
	}
	if err != nil {
		t.Error(err)
	}
}

// TestFarHolderLosesItsLock: half of a short lease is no more than a few round
// trips, also where the server has forgotten the script. A lease that is lost proves
// something if the machine has kept pace: if it has not, one that is twice as long is held
// from twice as far.
func TestFarHolderLosesItsLock(t *testing.T) {
	for name, command := range map[string][]any{"warm": {"PING"}, "cold": {"SCRIPT", "FLUSH"}} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
				for ttl := 2 * time.Second; ; ttl *= 2 {
					late, err := holdFromAfar(t, connect, ttl, command)
					if err == nil {
						return
					}
					if late <= ttl/50 || ttl > 8*time.Second {
						t.Fatalf("a lease of %s, while the machine was late by %s at most: %v", ttl, late, err)
					}
					t.Logf("once more, for the machine was late by %s with a lease of %s: %v", late, ttl, err)
				}
			})
		})
	}
}

// holdFromAfar holds a lock for two of its leases over a line that takes a tenth of one
// there and back, while the server is told something every so often. It returns by how
// much that was late at most.
func holdFromAfar(
	t *testing.T, connect func(testing.TB, target) redisconn.Conn, ttl time.Duration, command []any,
) (late time.Duration, err error) {
	t.Helper()
	const pause = 5 * time.Millisecond
	server := testenv.Redis(t, nil)
	proxy := proxyTo(t, server)
	locks := warmClient(t, connect(t, target{addrs: []string{proxy.Addr()}}), ttl)
	proxy.Delay(ttl / 20) // each way
	lease, err := locks.Mutex("a", nil).Lock(ctxFor(t))
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(2 * ttl); time.Now().Before(end); {
		start := time.Now()
		select {
		case <-lease.Context().Done():
			return late, context.Cause(lease.Context())
		case <-time.After(pause):
			server.Do(command...)
			late = max(late, time.Since(start)-pause)
		}
	}
	return late, lease.Unlock(ctxFor(t))
}
