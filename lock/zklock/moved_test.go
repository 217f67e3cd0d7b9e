package zklock_test

import (
	"errors"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/chaos"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/zklock"
)

// farServers are three that are far from each other, and a line to one that follows.
type farServers struct {
	*chaos.Proxy

	leader    string
	followers []string
	between   []*chaos.Proxy
	moves     atomic.Bool // the line goes to the other follower when the next node has been asked for
}

func startFar(t *testing.T) *farServers {
	t.Helper()
	f := &farServers{}
	opts := &testenv.ZooKeeperOptions{Servers: 3, Line: func(addr string) string {
		p := proxyTo(t, addr)
		f.between = append(f.between, p)
		return p.Addr()
	}}
	for _, s := range testenv.StartZooKeeper(t, opts) {
		if s.IsLeader() {
			f.leader = s.Addr()
		} else {
			f.followers = append(f.followers, s.Addr())
		}
	}
	if len(f.followers) != 2 {
		t.Fatalf("followers are %q", f.followers)
	}
	f.Proxy = proxyTo(t, f.followers[0])
	return f
}

// delay has whatever servers tell each other come so much later.
func (f *farServers) delay(d time.Duration) {
	for _, p := range f.between {
		p.Delay(d)
	}
}

// options are those of a client that goes through the line.
func (f *farServers) options() *zklock.Options {
	w := &wire{after: func(operation uint32, _ net.Conn) {
		if (operation == creates || operation == makesChange) && f.moves.CompareAndSwap(true, false) {
			time.AfterFunc(100*time.Millisecond, func() { // the server has passed it on by then
				slices.Reverse(f.followers)
				f.Retarget(f.followers[0])
			})
		}
	}}
	return &zklock.Options{Session: time.Minute, Dial: w.dial}
}

// moveAway has the client's connection break when it has asked for the next node, and its session go to the other
// server, which does not hear of that node before a while.
func (f *farServers) moveAway(t *testing.T) {
	f.delay(300 * time.Millisecond)
	f.moves.Store(true)
	t.Cleanup(func() {
		f.delay(0)
		if f.moves.Load() {
			t.Error("no node was asked for")
		}
	})
}

// again repeats a call until the servers are there.
func again(t *testing.T, what string, call func() error) {
	t.Helper()
	var err error
	eventually(t, what, func() bool {
		err = call()
		return !errors.Is(err, driver.ErrUnavailable)
	})
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// lasting is a request for a lock that does not end while servers take their time.
func lasting(name, owner string) driver.Request {
	req := request(name, owner)
	req.TTL = 30 * time.Second
	return req
}

// TestMovedSessionOverlooksItsNode: the answer to a request is lost, and the next one goes to a server that is behind.
func TestMovedSessionOverlooksItsNode(t *testing.T) {
	t.Parallel()
	far := startFar(t)
	b := open(t, far.options(), far.Addr())
	acquire := func(t *testing.T, req driver.Request) {
		t.Helper()
		mustRelease(t, b, mustAcquire(t, b, req)) // its folder is there
		far.moveAway(t)
		_, _ = b.Acquire(ctxFor(t), req)
		again(t, "acquire", func() error { _, err := b.Acquire(ctxFor(t), req); return err })
		mustRelease(t, b, req.Ungranted())
	}
	t.Run("a mutex", func(t *testing.T) { acquire(t, lasting("a", "me:1")) })
	t.Run("permits", func(t *testing.T) {
		req := lasting("s", "me:1")
		req.Mode, req.Waits = driver.Permit, true
		req.Permits, req.Limit = 2, 2
		acquire(t, req)
	})
	writer := lasting("w", "me:1")
	writer.Mode, writer.Waits = driver.Write, true
	t.Run("a downgrade", func(t *testing.T) {
		for range 3 { // on a late machine a session may come to its server after the node
			g := mustAcquire(t, b, writer)
			far.moveAway(t)
			_ = b.(driver.Downgrader).Downgrade(ctxFor(t), g)
			again(t, "downgrade", func() error { return b.(driver.Downgrader).Downgrade(ctxFor(t), g) })
			mustRelease(t, b, g)
			far.delay(0)
		}
	})
	t.Run("a reader over a writer", func(t *testing.T) {
		g := mustAcquire(t, b, writer)
		req := lasting("w", "me:2")
		req.Mode, req.Waits, req.Over = driver.Shared, true, "me:1"
		far.moveAway(t)
		_, _ = b.Acquire(ctxFor(t), req)
		again(t, "acquire", func() error { _, err := b.Acquire(ctxFor(t), req); return err })
		mustRelease(t, b, req.Ungranted())
		mustRelease(t, b, g)
	})
	t.Run("a release", func(t *testing.T) {
		req := lasting("a", "me:2")
		far.moveAway(t)
		_, _ = b.Acquire(ctxFor(t), req)
		again(t, "release", func() error {
			_, err := b.Release(ctxFor(t), req.Ungranted())
			if errors.Is(err, driver.ErrLost) {
				return nil // on a late machine the session moves before the node is made; the next one would meet it
			}
			return err
		})
		far.delay(0) // else each request takes a second
		mustRelease(t, b, mustAcquire(t, b, lasting("a", "me:3")))
	})
}

// TestForcedReleaseOverlooksTheHolder: it goes to a server that has not heard of it yet.
func TestForcedReleaseOverlooksTheHolder(t *testing.T) {
	t.Parallel()
	far := startFar(t)
	holder, admin := open(t, long(), far.leader), open(t, long(), far.followers[0])
	mustRelease(t, holder, mustAcquire(t, holder, request("a", "me:1")))
	far.delay(300 * time.Millisecond)
	mustAcquire(t, holder, request("a", "me:2"))
	if held, err := admin.(driver.Forcer).ForceRelease(ctxFor(t), "a"); !held || err != nil {
		t.Errorf("it is held, and told is %t, %v", held, err)
	}
}

// TestFollowerShowsAHeldLockAsFree looks over a server that is behind.
func TestFollowerShowsAHeldLockAsFree(t *testing.T) {
	t.Parallel()
	far := startFar(t)
	holder, other := open(t, long(), far.leader), open(t, long(), far.followers[0]).(driver.Inspector)
	mustRelease(t, holder, mustAcquire(t, holder, request("a", "me:1")))
	far.delay(300 * time.Millisecond)
	g := mustAcquire(t, holder, request("a", "me:2"))
	if info, err := other.Inspect(ctxFor(t), "a"); err != nil || len(info.Holders) != 1 {
		t.Errorf("it is held, and shown as %+v, %v", info, err)
	}
	mustRelease(t, holder, g)
	if all, err := other.List(ctxFor(t), "", 10); err != nil || len(all) != 0 {
		t.Errorf("nothing is held, and shown is %+v, %v", all, err)
	}
}
