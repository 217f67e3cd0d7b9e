package combination_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/internal/several/severaltest"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/combination"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// inRedis runs a test with three real servers.
func inRedis(t *testing.T, test func(t *testing.T, servers severaltest.Redis)) {
	t.Helper()
	t.Parallel()
	test(t, severaltest.StartRedis(t, 3))
}

// joinRedis makes a client of real servers. A node is waited for as long as this machine may be busy with others; one
// that is down says so at once.
func joinRedis(t *testing.T, servers severaltest.Redis, ttl time.Duration) *member {
	t.Helper()
	m := &member{}
	backends := servers.Connect(t, severaltest.GoRedis)
	for i, b := range backends {
		line := bedrocktest.NewBackend(b)
		m.lines, backends[i] = append(m.lines, line), line
	}
	locks, err := combination.New(backends, &combination.Options{
		NodeTimeout: 5 * time.Second, Retry: 100 * time.Millisecond,
		Lock: lock.Options{TTL: ttl, Logger: slog.New(slog.DiscardHandler)},
	})
	if err != nil {
		t.Fatal(err)
	}
	m.Client = locks
	t.Cleanup(func() { _ = locks.Stop(soon(t)) })
	lease, err := locks.Mutex("warm up", nil).Lock(soon(t)) // it is known then who the nodes are
	if err == nil {
		err = lease.Unlock(soon(t))
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// wantFree fails the test unless the lock is free in the end, and nothing of it is left at any server.
func wantFree(t *testing.T, servers severaltest.Redis, locks *member, name string) {
	t.Helper()
	lease, err := locks.Mutex(name, nil).Lock(soon(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := lease.Unlock(soon(t)); err != nil {
		t.Error(err)
	}
	for end := soon(t); len(servers.Residue()) > 0; <-time.After(10 * time.Millisecond) {
		if end.Err() != nil {
			t.Fatalf("left behind: %q", servers.Residue())
		}
	}
}

// TestLoserIsNotWoken: all nodes are there. Who loses has nothing anywhere, and is woken by the release.
func TestLoserIsNotWoken(t *testing.T) {
	inRedis(t, func(t *testing.T, servers severaltest.Redis) {
		a, b := joinRedis(t, servers, time.Hour), joinRedis(t, servers, time.Hour)
		lease, err := a.Mutex("a", nil).Lock(soon(t))
		if err != nil {
			t.Fatal(err)
		}
		asked := b.lines[0].Returned(bedrocktest.Acquire)
		next := make(chan *lock.Lease, 1)
		go func() {
			l, err := b.Mutex("a", nil).Lock(soon(t))
			if err != nil {
				t.Error(err)
			}
			next <- l
		}()
		for end := soon(t); b.lines[0].Returned(bedrocktest.Acquire) < asked+2; <-time.After(time.Millisecond) {
			if end.Err() != nil {
				t.Fatal("the loser does not wait")
			}
		}
		if left := servers.Residue(); len(left) != 3 {
			t.Errorf("at the nodes is %q", left)
		}
		if err := lease.Unlock(soon(t)); err != nil {
			t.Error(err)
		}
		won := <-next
		if won.Token() <= lease.Token() {
			t.Errorf("token %d after %d", won.Token(), lease.Token())
		}
		if err := won.Unlock(soon(t)); err != nil {
			t.Error(err)
		}
		wantFree(t, servers, a, "a")
	})
}

// TestFirstNodeDiesBetweenTwo: one has taken some nodes when the first one dies, and another one comes, who has not
// seen that. One of them has the lock.
func TestFirstNodeDiesBetweenTwo(t *testing.T) {
	for taken := 1; taken <= 3; taken++ {
		t.Run(fmt.Sprintf("%d are taken", taken), func(t *testing.T) {
			inRedis(t, func(t *testing.T, servers severaltest.Redis) {
				a, b := joinRedis(t, servers, 20*time.Second), joinRedis(t, servers, 20*time.Second)
				var other *lock.Lease
				var refused error
				a.lines[taken-1].Fail(bedrocktest.Acquire, bedrocktest.Fault{Hit: func() {
					servers[0].Kill()
					other, refused = b.Mutex("a", nil).TryLock(soon(t))
				}})
				lease, err := a.Mutex("a", nil).TryLock(soon(t))
				if (err == nil) == (refused == nil) {
					t.Fatalf("both or none have the lock: %v, %v", err, refused)
				}
				if lost := errors.Join(err, refused); !errors.Is(lost, lock.ErrHeld) {
					t.Errorf("the other one was not refused: %v", lost)
				}
				if first := taken == 1; first != (refused == nil) {
					t.Errorf("who comes to node 2 first has not won: %v, %v", err, refused)
				}
				if lease == nil {
					lease = other
				}
				if err := lease.Unlock(soon(t)); err != nil && !lock.MaybeApplied(err) { // the first node had it
					t.Error(err)
				}
				servers[0].Restart(false)
				wantFree(t, servers, b, "a")
			})
		})
	}
}

// TestLaterNodeDies under a holder, and under somebody who is on the way to it.
func TestLaterNodeDies(t *testing.T) {
	inRedis(t, func(t *testing.T, servers severaltest.Redis) {
		const ttl = 4 * time.Second
		a, b := joinRedis(t, servers, ttl), joinRedis(t, servers, ttl)
		a.lines[0].Fail(bedrocktest.Acquire, bedrocktest.Fault{Hit: servers[2].Kill})
		lease, err := a.Mutex("a", nil).Lock(soon(t))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := lease.Spread(), (lock.Spread{Held: 2, Stores: 3, Surplus: 1}); got != want {
			t.Errorf("held on %+v, want %+v", got, want)
		}
		servers[1].Kill()
		for end := time.Now().Add(ttl + ttl/2); time.Now().Before(end); <-time.After(100 * time.Millisecond) {
			if _, err := b.Mutex("a", nil).TryLock(soon(t)); !errors.Is(err, lock.ErrHeld) {
				t.Fatalf("somebody else: %v", err)
			}
		}
		if err := lease.Unlock(soon(t)); err != nil {
			t.Error(err)
		}
		servers[1].Restart(true)
		servers[2].Restart(true)
		wantFree(t, servers, b, "a")
	})
}

// TestNodesDieBelowTheLeast while somebody takes the lock, who may finish with the one that is left. Nobody may begin.
func TestNodesDieBelowTheLeast(t *testing.T) {
	inRedis(t, func(t *testing.T, servers severaltest.Redis) {
		a := joinRedis(t, servers, time.Minute)
		a.lines[0].Fail(bedrocktest.Acquire, bedrocktest.Fault{Hit: func() {
			servers[1].Kill()
			servers[2].Kill()
		}})
		lease, err := a.Mutex("a", nil).Lock(soon(t))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := lease.Spread(), (lock.Spread{Held: 1, Stores: 3}); got != want {
			t.Errorf("held on %+v, want %+v", got, want)
		}
		_, err = a.Mutex("b", nil).TryLock(soon(t))
		if !errors.Is(err, combination.ErrTooFewNodes) || !errors.Is(err, driver.ErrUnavailable) {
			t.Errorf("somebody who begins: %v", err)
		}
		if err := lease.Err(); err != nil {
			t.Error(err)
		}
		if err := lease.Unlock(soon(t)); err != nil {
			t.Error(err)
		}
		servers[1].Restart(true)
		servers[2].Restart(true)
		wantFree(t, servers, a, "b")
		wantFree(t, servers, a, "a")
	})
}
