package redislock_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn"
)

// clientOn returns a client of a server, of which locks linger.
func clientOn(t *testing.T, conn redisconn.Conn) *lock.Client {
	t.Helper()
	c, err := redislock.New(conn, &redislock.Options{
		Lock: lock.Options{TTL: 2 * time.Second, Linger: 50 * time.Millisecond},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Stop(context.Background()) })
	return c
}

// lockIn takes a lock.
func lockIn(t *testing.T, c *lock.Client, name string) *lock.Lease {
	t.Helper()
	lease, err := c.Mutex(name, nil).Lock(ctxFor(t))
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

// passThrough locks and unlocks, and reports whether the lock stays with the client.
func passThrough(t *testing.T, server *testenv.RedisServer, c *lock.Client, name string) (stays bool) {
	t.Helper()
	if err := lockIn(t, c, name).Unlock(ctxFor(t)); err != nil {
		t.Fatal(err)
	}
	return server.Do("EXISTS", name) == int64(1)
}

// TestALockLingers on one server, with its client there; others have it when they want it.
func TestALockLingers(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, nil)
		c, other := clientOn(t, connect(t, single(server))), clientOn(t, connect(t, single(server)))
		for ctx := ctxFor(t); !passThrough(t, server, c, "a"); {
			if ctx.Err() != nil {
				t.Fatal("it does not linger")
			}
		}
		info, err := c.Inspect(ctxFor(t), "a")
		if err != nil || len(info.Holders) == 1 && info.Holders[0].Linger != 50*time.Millisecond {
			t.Errorf("%+v, %v", info, err)
		}
		last := lockIn(t, c, "a")
		theirs := make(chan *lock.Lease, 1)
		go func() {
			lease, _ := other.Mutex("a", nil).Lock(ctxFor(t))
			theirs <- lease
		}()
		awaitListeners(t, server, "redisson_lock__channel:{a}", 1)
		if err := last.Unlock(ctxFor(t)); err != nil {
			t.Fatal(err)
		}
		next := <-theirs
		if next == nil || next.Token() <= last.Token() {
			t.Fatalf("%v after token %d", next, last.Token())
		}
		if err := next.Unlock(ctxFor(t)); err != nil {
			t.Error(err)
		}
	})
}

// TestALockTakenAwayIsToldAtOnce: the cause of the loss says who has told of it.
func TestALockTakenAwayIsToldAtOnce(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, nil)
		c := clientOn(t, connect(t, single(server)))
		for _, name := range []string{"a", "{a}", "a b"} {
			lease := lockIn(t, c, name)
			client, _, _ := strings.Cut(lease.Owner(), ":")
			awaitListeners(t, server, "bedrock_client:"+client[:18], 1)
			if held, err := c.ForceRelease(ctxFor(t), name); !held || err != nil {
				t.Fatal(held, err)
			}
			<-lease.Context().Done()
			wantLost(t, lease, true)
		}
	})
}

// wantLost checks why a lease has ended: because its holder was told that it was taken away, or has found out.
func wantLost(t *testing.T, lease *lock.Lease, told bool) {
	t.Helper()
	cause := context.Cause(lease.Context())
	if !errors.Is(cause, lock.ErrLost) || strings.Contains(cause.Error(), "force") != told {
		t.Errorf("%s: %v, told: %t", lease.Name(), cause, told)
	}
}

// TestWhoMayNotListen for what its client is told: nothing lingers, and a loss is found out at the next renewal.
func TestWhoMayNotListen(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, &testenv.RedisOptions{
			Users: []string{"locker on >secret ~* resetchannels &redisson_lock__channel:* +@all"},
		})
		to := single(server)
		to.user, to.pass = "locker", "secret"
		c := clientOn(t, connect(t, to))
		for range 10 {
			if passThrough(t, server, c, "a") {
				t.Error("it lingers")
			}
		}
		lease := lockIn(t, c, "a")
		if held, err := c.ForceRelease(ctxFor(t), "a"); !held || err != nil {
			t.Fatal(held, err)
		}
		<-lease.Context().Done()
		wantLost(t, lease, false)
		findings, err := c.Check(ctxFor(t))
		refused := func(f driver.Finding) bool {
			return f.Level == driver.Notice && strings.HasPrefix(f.What, "channel bedrock_client:check: ") &&
				strings.Contains(f.What, "NOPERM")
		}
		if err != nil || !slices.ContainsFunc(findings, refused) {
			t.Errorf("%+v, %v", findings, err)
		}
	})
}
