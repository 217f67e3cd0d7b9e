package redislock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn"
)

// frozenElsewhere is a connection to a cluster one of whose masters never answers:
// not the one that has the locks.
type frozenElsewhere struct{ redisconn.Conn }

// Cluster implements redisconn.Conn.
func (frozenElsewhere) Cluster() bool { return true }

// Masters implements redisconn.Conn.
func (frozenElsewhere) Masters(ctx context.Context) ([]redisconn.Node, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestFrozenMasterEndsTheLeasesOfOthers: before it is known how this cluster publishes,
// one of its masters freezes. What the others have is renewed.
func TestFrozenMasterEndsTheLeasesOfOthers(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		b := open(t, frozenElsewhere{connect(t, single(testenv.Redis(t, nil)))}, nil)
		g := mustAcquire(t, b, request("a", uuidA+":1"))
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if err := b.Renew(ctx, []driver.Grant{g})[0]; err != nil {
			t.Errorf("renew: %v", err)
		}
	})
}

// TestFrozenMasterHoldsUpReleasesOfOthers: the same, and what the others have is given
// back, looked at, and taken away.
func TestFrozenMasterHoldsUpReleasesOfOthers(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		b := open(t, frozenElsewhere{connect(t, single(testenv.Redis(t, nil)))}, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		g := mustAcquire(t, b, request("a", uuidA+":1"))
		if info, err := b.(driver.Inspector).Inspect(ctx, "a"); err != nil || len(info.Holders) != 1 ||
			info.Holders[0].Owner != g.Owner {
			t.Errorf("inspect: %+v, %v", info, err)
		}
		if _, err := b.Release(ctx, g); err != nil {
			t.Errorf("release: %v", err)
		}
		mustAcquire(t, b, request("a", uuidA+":2"))
		if held, err := b.(driver.Forcer).ForceRelease(ctx, "a"); err != nil || !held {
			t.Errorf("force release: held %v, error %v", held, err)
		}
	})
}

// TestFrozenMasterHangsAWatch: the same, and somebody wants to listen.
func TestFrozenMasterHangsAWatch(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		b := open(t, frozenElsewhere{connect(t, single(testenv.Redis(t, nil)))}, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := b.(driver.Waiter).Watch(ctx, "a", driver.Mutex); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("want DeadlineExceeded, got %v", err)
		}
	})
}

// TestReleaseIsHeardByOneKindOnly: whoever does not know yet how this cluster publishes
// is heard by those who listen in either way.
func TestReleaseIsHeardByOneKindOnly(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		to := target{addrs: testenv.Cluster(t, 2, 0).Addrs(), cluster: true}
		unsure, name := open(t, frozenElsewhere{connect(t, to)}, nil), t.Name()
		for _, way := range []redislock.PubSub{redislock.PubSubClassic, redislock.PubSubSharded} {
			listens := open(t, connect(t, to), &redislock.Options{PubSub: way})
			w, err := listens.(driver.Waiter).Watch(ctxFor(t), name, driver.Mutex)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			g := mustAcquire(t, unsure, request(name, uuidA+":1"))
			mustRelease(t, unsure, g)
			if !hears(t, w) {
				t.Errorf("a release was not heard by %d", way)
			}
			g = mustAcquire(t, unsure, request(name, uuidA+":2"))
			g.TTL /= 2
			if err := unsure.Renew(ctxFor(t), []driver.Grant{g})[0]; err != nil || !hears(t, w) {
				t.Errorf("a life cut short was not heard by %d: %v", way, err)
			}
			if _, err := unsure.(driver.Forcer).ForceRelease(ctxFor(t), name); err != nil || !hears(t, w) {
				t.Errorf("a forced release was not heard by %d: %v", way, err)
			}
		}
	})
}

func hears(t *testing.T, w driver.Watch) bool {
	t.Helper()
	select {
	case <-w.C():
		return true
	case <-ctxFor(t).Done():
		return false
	}
}
