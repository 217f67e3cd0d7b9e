package redislock_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn"
)

// sluggish is a connection whose replicas miss the first grant, and over which the
// first release arrives late: its caller hears nothing, or of a broken connection.
type sluggish struct {
	redisconn.Conn
	late     time.Duration
	heard    error
	waits    atomic.Int32
	releases atomic.Int32
	arrived  chan struct{}
}

// EvalWait implements redisconn.Conn.
func (c *sluggish) EvalWait(
	ctx context.Context, call redisconn.Call, need int, _ time.Duration,
) (redisconn.Reply, int, error) {
	reply, err := c.Eval(ctx, call.Script, call.Keys, call.Args)
	if c.waits.Add(1) == 1 {
		return reply, 0, err
	}
	return reply, need, err
}

// Eval implements redisconn.Conn.
func (c *sluggish) Eval(ctx context.Context, s *redisconn.Script, keys, args []string) (redisconn.Reply, error) {
	if !strings.Contains(*s.Text(), "-- Gives locks back") || c.releases.Add(1) > 1 {
		return c.Conn.Eval(ctx, s, keys, args)
	}
	keys, args = append([]string(nil), keys...), append([]string(nil), args...)
	time.AfterFunc(c.late, func() {
		defer close(c.arrived)
		_, _ = c.Conn.Eval(context.WithoutCancel(ctx), s, keys, args)
	})
	return redisconn.Reply{}, c.heard
}

// waitForCopy waits until the late copy has been answered.
func (c *sluggish) waitForCopy(t *testing.T) {
	t.Helper()
	select {
	case <-c.arrived:
	case <-ctxFor(t).Done():
		t.Fatal("no release was seen")
	}
}

// TestLateTakeBackEndsTheNextGrant: too few replicas had the first grant, and a copy
// of the release by which it was taken back arrives when the lock is held for good.
func TestLateTakeBackEndsTheNextGrant(t *testing.T) {
	for what, heard := range map[string]error{
		"repeated over a new connection": io.EOF, "not heard of": errors.New("no answer"),
	} {
		t.Run(what, func(t *testing.T) {
			each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
				server := testenv.Redis(t, nil)
				conn := &sluggish{
					Conn: connect(t, single(server)), late: 600 * time.Millisecond, heard: heard,
					arrived: make(chan struct{}),
				}
				far, err := redislock.New(conn, &redislock.Options{Acks: 1, Lock: lock.Options{TTL: time.Minute}})
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = far.Stop(ctxFor(t)) }()
				near := open(t, connect(t, single(server)), nil)
				lease, err := far.Mutex("a", nil).Lock(ctxFor(t))
				if err != nil {
					t.Fatal(err)
				}
				conn.waitForCopy(t)
				if g, err := near.Acquire(ctxFor(t), request("a", uuidB+":1")); !errors.Is(err, driver.ErrHeld) {
					t.Errorf("granted a second time while %s says %q: %+v, %v", lease.Owner(), lease.State(), g, err)
				}
				server.Do("DEL", "a")
				if err := lease.Unlock(ctxFor(t)); !errors.Is(err, lock.ErrLost) {
					t.Errorf("unlock of a lock that is gone: %v", err)
				}
			})
		})
	}
}

// TestFailedTakeBackIsTakenForNothing: what the release was answered does not say
// that nothing is left of the acquisition.
func TestFailedTakeBackIsTakenForNothing(t *testing.T) {
	server := testenv.Redis(t, nil)
	conn := &sluggish{
		Conn: connectGoredis(t, single(server)), arrived: make(chan struct{}),
		heard: redisconn.Mark(redisconn.Unavailable, errors.New("the server is busy")),
	}
	b := open(t, conn, &redislock.Options{Acks: 1})
	_, err := b.Acquire(ctxFor(t), request("a", uuidA+":1"))
	if err == nil || errors.Is(err, driver.ErrUnavailable) || !errors.Is(err, driver.ErrSpent) {
		t.Errorf("want an error of unknown outcome under an owner that is spent, got %v", err)
	}
	conn.waitForCopy(t)
}

// TestRefusedWaitLeavesALock: the lock was granted before the server refused to wait for
// its replicas, so that something has happened.
func TestRefusedWaitLeavesALock(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, nil)
		server.Do("ACL", "SETUSER", "default", "-wait")
		far := open(t, connect(t, single(server)), &redislock.Options{Acks: 1})
		locks, err := redislock.New(connect(t, single(server)), &redislock.Options{Acks: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = locks.Stop(ctxFor(t)) }()
		near := open(t, connect(t, single(server)), nil)
		_, err = far.Acquire(ctxFor(t), request("a", uuidA+":1"))
		if err == nil || !strings.Contains(err.Error(), "NOPERM") {
			t.Errorf("want the refusal, got %v", err)
		}
		mustRelease(t, near, mustAcquire(t, near, request("a", uuidB+":1")))
		if _, err = locks.Mutex("b", nil).TryLock(ctxFor(t)); !errors.Is(err, driver.ErrRefused) ||
			lock.MaybeApplied(err) {
			t.Errorf("want a refusal that is certain, got %v", err)
		}
		mustRelease(t, near, mustAcquire(t, near, request("b", uuidB+":2")))
	})
}
