package redislock

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/redisconn"
)

// replicated is a cluster of one shard whose master has some replicas.
type replicated struct {
	redisconn.Conn
	master   string
	replicas int64
	err      error
	counts   int
}

func (r *replicated) Cluster() bool { return true }

func (r *replicated) Owner(context.Context, string, bool) (string, error) { return r.master, nil }

func (r *replicated) Eval(context.Context, *redisconn.Script, []string, []string) (redisconn.Reply, error) {
	r.counts++
	return redisconn.Reply{Int: r.replicas}, r.err
}

// needs makes a backend that waits for all replicas, and returns how many these
// are.
func needs(t *testing.T, conn redisconn.Conn) func() int {
	t.Helper()
	b, err := newBackend(conn, &Options{Acks: AckAll})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return func() int {
		n, err := b.acksNeeded(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
}

// pass lets virtual time go by.
func pass(d time.Duration) { <-time.After(d) }

// TestEveryLockCountsReplicas would cost a second round trip each.
func TestEveryLockCountsReplicas(t *testing.T) {
	for replicas, life := range map[int64]time.Duration{0: lowCountLife, 2: countLife} {
		synctest.Test(t, func(t *testing.T) {
			conn := &replicated{master: "x", replicas: replicas}
			need := needs(t, conn)
			for range 10_000 { // in a second
				if n := need(); n != int(replicas) {
					t.Fatalf("%d replicas, %d needed", replicas, n)
				}
				pass(time.Second / 10_000)
			}
			if most := int(time.Second/life) + 1; conn.counts > most {
				t.Errorf("%d replicas were counted %d times, want at most %d", replicas, conn.counts, most)
			}
		})
	}
}

// TestNewMasterGrantsAlone: after a fail-over grants wait for the replicas that
// have not found the new master yet, though not for ever.
func TestNewMasterGrantsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := &replicated{master: "x", replicas: 2}
		need := needs(t, conn)
		for range 100 {
			need()
			pass(missedTime / 10)
		}
		conn.master, conn.replicas = "y", 0
		if n := need(); n != 2 {
			t.Errorf("a new master needs %d acknowledgements, want 2", n)
		}
		conn.replicas = 1
		pass(missedTime - time.Millisecond)
		if n := need(); n != 2 {
			t.Errorf("a moment later it needs %d, want 2", n)
		}
		pass(lowCountLife)
		if n := need(); n != 1 {
			t.Errorf("after %s it needs %d, want 1", missedTime, n)
		}
	})
}

// TestReplicaThatReturnsIsForgotten: it counts again at once.
func TestReplicaThatReturnsIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := &replicated{master: "x", replicas: 1}
		need := needs(t, conn)
		need()
		conn.replicas = 0
		pass(countLife)
		need()
		pass(missedTime)
		if n := need(); n != 0 {
			t.Errorf("%d needed after the only replica has gone", n)
		}
		conn.replicas = 1
		pass(lowCountLife)
		if n := need(); n != 1 {
			t.Errorf("%d needed after it has come back", n)
		}
	})
}

// TestFailedCountIsUnknown: nothing was asked for yet, so nothing has to be
// settled.
func TestFailedCountIsUnknown(t *testing.T) {
	for _, tt := range []struct{ err, class error }{
		{io.EOF, driver.ErrUnavailable},
		{&redisconn.ReplyError{Cause: errors.New("NOPERM no info")}, driver.ErrRefused},
		{&redisconn.ReplyError{Cause: errors.New("LOADING")}, driver.ErrUnavailable},
	} {
		b, err := newBackend(&replicated{err: tt.err}, &Options{Acks: AckMajority})
		if err != nil {
			t.Fatal(err)
		}
		_, err = b.Acquire(t.Context(), driver.Request{Name: "a", Owner: uuidLike + ":1", TTL: time.Minute})
		if !errors.Is(err, tt.class) || !errors.Is(err, tt.err) {
			t.Errorf("%v: got %v, want %v", tt.err, err, tt.class)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestFailOverWhileNobodyAskedIsNotNoticed: the last count is old, and tells nothing of
// how long the replicas have been gone.
func TestFailOverWhileNobodyAskedIsNotNoticed(t *testing.T) {
	for name, masters := range map[string][]string{
		"behind one address": {"x", "x"}, "another master": {"x", "y"}, "back to the first": {"x", "y", "x"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn := &replicated{replicas: 2}
				need := needs(t, conn)
				for _, master := range masters {
					conn.master, conn.replicas = master, 2
					need()
					pass(time.Hour)
				}
				conn.replicas = 0
				if n := need(); n != 2 {
					t.Errorf("a new master needs %d acknowledgements, want 2", n)
				}
				pass(missedTime + lowCountLife)
				if n := need(); n != 0 {
					t.Errorf("after %s it needs %d, want 0", missedTime, n)
				}
			})
		})
	}
}
