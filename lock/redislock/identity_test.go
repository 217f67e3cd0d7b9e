package redislock_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/redisconn"
)

// identityOf asks a store who it is.
func identityOf(t *testing.T, b driver.Backend) string {
	t.Helper()
	id, err := b.(driver.Identifier).Identity(ctxFor(t))
	if err != nil || !strings.HasPrefix(id, "redis ") || len(id) < 20 {
		t.Fatalf("identity %q, %v", id, err)
	}
	return id
}

// TestOneServerHasTwoIdentities, or two servers have one.
func TestOneServerHasTwoIdentities(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		s, other := testenv.Redis(t, nil), testenv.Redis(t, nil)
		proxy := proxyTo(t, s)
		b := open(t, connect(t, single(s)), nil)
		id := identityOf(t, b)
		for _, addr := range []string{
			proxy.Addr(), strings.Replace(s.Addr(), "127.0.0.1", "localhost", 1),
		} {
			if got := identityOf(t, open(t, connect(t, target{addrs: []string{addr}}), nil)); got != id {
				t.Errorf("%s is %q, %s is %q", addr, got, s.Addr(), id)
			}
		}
		if got := identityOf(t, open(t, connect(t, single(other)), nil)); got == id {
			t.Errorf("two servers are %q", id)
		}
		s.Freeze()
		ctx, cancel := context.WithTimeout(ctxFor(t), 30*time.Millisecond)
		defer cancel()
		start := time.Now()
		_, err := b.(driver.Identifier).Identity(ctx)
		if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took > 230*time.Millisecond {
			t.Errorf("of a frozen server: %v after %s", err, took)
		}
		s.Thaw()
	})
}

// TestClusterHasTheIdentityOfAnyServer: which of them has the first slot is the same for all.
func TestClusterHasTheIdentityOfAnyServer(t *testing.T) {
	set := testenv.Cluster(t, 3, 0)
	want := "redis " + set.NodeForSlot(0).Info("run_id")
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		for _, addr := range set.Addrs() {
			to := target{addrs: []string{addr}, cluster: true}
			if got := identityOf(t, open(t, connect(t, to), nil)); got != want {
				t.Errorf("by way of %s it is %q, not %q", addr, got, want)
			}
		}
	})
}

// TestDatabasesAreOnePlace: names in another database of a server are others, and are lost with it all the same.
func TestDatabasesAreOnePlace(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		s := testenv.Redis(t, nil)
		to := single(s)
		first := identityOf(t, open(t, connect(t, to), nil))
		to.database = 3
		third := identityOf(t, open(t, connect(t, to), nil))
		if first == third || driver.StoreOf(first) != driver.StoreOf(third) {
			t.Errorf("one database is %q, and another one %q", first, third)
		}
	})
}

// TestIdentityWithoutADatabase where the user may not ask for it.
func TestIdentityWithoutADatabase(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		s := testenv.Redis(t, &testenv.RedisOptions{Users: []string{"locker on >secret ~* &* +@all -client|info"}})
		to := single(s)
		want := identityOf(t, open(t, connect(t, to), nil))
		to.user, to.pass, to.database = "locker", "secret", 3
		if got := identityOf(t, open(t, connect(t, to), nil)); got != want {
			t.Errorf("%q is %q of who may not ask", want, got)
		}
	})
}

// TestIdentityIsMadeUp where the user may not ask for it.
func TestIdentityIsMadeUp(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		s := testenv.Redis(t, &testenv.RedisOptions{Users: []string{"locker on >secret ~* &* +@all -info"}})
		to := single(s)
		to.user, to.pass = "locker", "secret"
		id, err := open(t, connect(t, to), nil).(driver.Identifier).Identity(ctxFor(t))
		if !errors.Is(err, driver.ErrRefused) {
			t.Errorf("%q, %v", id, err)
		}
	})
}
