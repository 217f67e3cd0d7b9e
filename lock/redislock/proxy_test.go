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
)

// throughProxy runs a test with two clients of one server, the first of which is
// connected through a proxy.
func throughProxy(t *testing.T, ttl time.Duration, test func(t *testing.T, p *chaos.Proxy, far, near *lock.Client)) {
	t.Helper()
	each(t, func(t *testing.T, connect func(testing.TB, target) redislock.Conn) {
		server := testenv.Redis(t, nil)
		proxy := proxyTo(t, server)
		far := warmClient(t, connect(t, target{addrs: []string{proxy.Addr()}}), ttl)
		near := warmClient(t, connect(t, single(server)), ttl)
		test(t, proxy, far, near)
	})
}

// warmClient returns a client whose connections and scripts are there already.
func warmClient(t *testing.T, conn redislock.Conn, ttl time.Duration) *lock.Client {
	t.Helper()
	locks, err := redislock.New(conn, &redislock.Options{Lock: lock.Options{TTL: ttl}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = locks.Close(ctxFor(t)) })
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
// trips, also where the server has forgotten the script.
func TestFarHolderLosesItsLock(t *testing.T) {
	for name, forgetful := range map[string]bool{"warm": false, "cold": true} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, connect func(testing.TB, target) redislock.Conn) {
				server := testenv.Redis(t, nil)
				proxy := proxyTo(t, server)
				locks, err := redislock.New(connect(t, target{addrs: []string{proxy.Addr()}}), &redislock.Options{
					Lock: lock.Options{TTL: 2 * time.Second},
				})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = locks.Close(ctxFor(t)) })
				takeAndRelease(t, locks, "warm up")
				proxy.Delay(100 * time.Millisecond) // each way
				lease, err := locks.Mutex("a", nil).Lock(ctxFor(t))
				if err != nil {
					t.Fatal(err)
				}
				for end := time.After(4 * time.Second); end != nil; {
					select {
					case <-lease.Context().Done():
						t.Fatalf("lost: %v", context.Cause(lease.Context()))
					case <-time.After(5 * time.Millisecond):
						if forgetful {
							server.Do("SCRIPT", "FLUSH")
						}
					case <-end:
						end = nil
					}
				}
				if err := lease.Unlock(ctxFor(t)); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
