package zklock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/chaos"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/zklock"
)

// takeAndRelease takes a lock that can be had, and returns its token.
func takeAndRelease(t testing.TB, locks *lock.Client, name string) uint64 {
	t.Helper()
	lease, err := locks.Mutex(name, nil).Lock(ctxFor(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := lease.Unlock(ctxFor(t)); err != nil {
		t.Fatal(err)
	}
	return lease.Token()
}

// TestExpiredSessionIsBelievedIn cuts a holder off until its session is over: it knows before somebody else has the
// lock, and goes on in a new session when it is back.
func TestExpiredSessionIsBelievedIn(t *testing.T) {
	t.Parallel()
	server := testenv.StartZooKeeper(t, nil)[0]
	proxy := proxyTo(t, server.Addr())
	opts := &zklock.Options{Session: 2 * time.Second, Lock: lock.Options{TTL: 1500 * time.Millisecond}}
	far, near := connect(t, opts, proxy.Addr()), connect(t, opts, server.Addr())
	lease, err := far.Mutex("a", nil).Lock(ctxFor(t))
	if err != nil {
		t.Fatal(err)
	}
	proxy.BlackHole(chaos.Both)
	next, err := near.Mutex("a", nil).Lock(ctxFor(t))
	if err != nil {
		t.Fatal(err)
	}
	if !errors.Is(context.Cause(lease.Context()), lock.ErrLost) {
		t.Errorf("the next one has the lock, and the former one has not been told: %v", lease.State())
	}
	if next.Token() <= lease.Token() {
		t.Errorf("token %d after %d", next.Token(), lease.Token())
	}
	if err := next.Unlock(ctxFor(t)); err != nil {
		t.Error(err)
	}
	proxy.Heal()
	takeAndRelease(t, far, "a")
}

// TestMovedSessionLosesALock kills one server of three after the other: the session goes to the next one, with all
// it has.
func TestMovedSessionLosesALock(t *testing.T) {
	t.Parallel()
	servers := testenv.StartZooKeeper(t, &testenv.ZooKeeperOptions{Servers: 3})
	opts := &zklock.Options{Session: 40 * time.Second}
	a := connect(t, opts, servers[0].Addr(), servers[1].Addr(), servers[2].Addr())
	lease, err := a.Mutex("a", nil).Lock(ctxFor(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range servers {
		s.Kill()
		s.Restart()
		takeAndRelease(t, a, "b")
		if err := lease.Err(); err != nil {
			t.Fatal(err)
		}
	}
	if err := lease.Unlock(ctxFor(t)); err != nil {
		t.Error(err)
	}
}

// TestSilentServerCostsTheSession has a server next in the list that takes connections, and says nothing.
func TestSilentServerCostsTheSession(t *testing.T) {
	t.Parallel()
	server := testenv.StartZooKeeper(t, nil)[0]
	proxy := proxyTo(t, server.Addr())
	a := connect(t, &zklock.Options{Session: 4 * time.Second, Lock: lock.Options{TTL: 3 * time.Second}},
		proxy.Addr(), testenv.SaysNothing(t))
	lease, err := a.Mutex("a", nil).Lock(ctxFor(t))
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		proxy.Cut()
		proxy.Heal()
		start := time.Now()
		takeAndRelease(t, a, "b")
		if took := time.Since(start); took > 4*time.Second {
			t.Errorf("back after %s", took)
		}
		if err := lease.Err(); err != nil {
			t.Fatal(err)
		}
	}
	if err := lease.Unlock(ctxFor(t)); err != nil {
		t.Error(err)
	}
}

// TestFrozenServerKeepsItsClients: of a server that does not answer any more clients go to another one, while the
// session lasts. The library would wait for two thirds of it.
func TestFrozenServerKeepsItsClients(t *testing.T) {
	t.Parallel()
	server := testenv.StartZooKeeper(t, nil)[0]
	line, other := proxyTo(t, server.Addr()), proxyTo(t, server.Addr())
	a := connect(t, &zklock.Options{Session: 20 * time.Second, Lock: lock.Options{TTL: 15 * time.Second}},
		line.Addr(), other.Addr())
	lease, err := a.Mutex("a", nil).Lock(ctxFor(t))
	if err != nil {
		t.Fatal(err)
	}
	line.Strand()
	other.Strand()
	start := time.Now()
	takeAndRelease(t, a, "b")
	if took := time.Since(start); took > 9*time.Second {
		t.Errorf("back after %s", took)
	}
	if err := lease.Err(); err != nil {
		t.Error(err)
	}
	if err := lease.Unlock(ctxFor(t)); err != nil {
		t.Error(err)
	}
}

// TestServersWithoutTheirDataAreAskedForEver: they take no client that has seen more than they have, until its
// session is over.
func TestServersWithoutTheirDataAreAskedForEver(t *testing.T) {
	t.Parallel()
	server := testenv.StartZooKeeper(t, nil)[0]
	a := connect(t, &zklock.Options{Session: 2 * time.Second, Lock: lock.Options{TTL: time.Second}}, server.Addr())
	for range 10 {
		takeAndRelease(t, a, "a")
	}
	lease, err := a.Mutex("b", nil).Lock(ctxFor(t))
	if err != nil {
		t.Fatal(err)
	}
	server.Wipe()
	eventually(t, "the loss is known", func() bool { return lease.Err() != nil })
	eventually(t, "it has another session", func() bool {
		again, err := a.Mutex("a", nil).TryLock(ctxFor(t))
		return err == nil && again.Unlock(ctxFor(t)) == nil
	})
}

// throughProxy makes a client behind a proxy, and one that is not.
func throughProxy(t *testing.T) (proxy *chaos.Proxy, far, near *lock.Client) {
	t.Helper()
	server := testenv.StartZooKeeper(t, nil)[0]
	proxy = proxyTo(t, server.Addr())
	far, near = connect(t, nil, proxy.Addr()), connect(t, nil, server.Addr())
	takeAndRelease(t, far, "a")
	return proxy, far, near
}

func TestLostReplyToCreateLeavesANode(t *testing.T) {
	t.Parallel()
	proxy, far, near := throughProxy(t)
	proxy.DropRepliesTo("lock-", 1)
	lease, err := far.Mutex("a", nil).Lock(ctxFor(t))
	if err != nil {
		t.Fatal(err)
	}
	if proxy.Evidence().RepliesLost != 1 {
		t.Errorf("no reply was lost: %+v", proxy.Evidence())
	}
	if err := lease.Unlock(ctxFor(t)); err != nil {
		t.Error(err)
	}
	takeAndRelease(t, near, "a")
}

func TestLostReplyToReleaseLeavesANode(t *testing.T) {
	t.Parallel()
	proxy, far, near := throughProxy(t)
	lease, err := far.Mutex("a", nil).Lock(ctxFor(t))
	if err != nil {
		t.Fatal(err)
	}
	proxy.DropRepliesTo("lock-", 1)
	if err := lease.Unlock(ctxFor(t)); err != nil && !lock.MaybeApplied(err) {
		t.Error(err)
	}
	takeAndRelease(t, near, "a")
	takeAndRelease(t, far, "a")
}

// TestRequestsOfAnOwnerMeet: the server is silent for a moment, in which the request is given up and made again.
func TestRequestsOfAnOwnerMeet(t *testing.T) {
	t.Parallel()
	server := testenv.StartZooKeeper(t, nil)[0]
	b := open(t, long(), server.Addr())
	req := request("a", "me:1")
	mustRelease(t, b, mustAcquire(t, b, req))
	b.(driver.Successor).Inherit(func(driver.Grant) {})
	server.Freeze()
	for range 2 {
		brief, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if _, err := b.(driver.Successor).Stand(brief, req); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a frozen server: %v", err)
		}
		cancel()
	}
	server.Thaw()
	g, err := b.(driver.Successor).Stand(ctxFor(t), req)
	if err != nil {
		t.Fatal(err)
	}
	onlyNode(t, raw(t, server), "/bedrock/lock/a")
	mustRelease(t, b, g)
}

// TestRemovedFolderIsNotMadeAgain has the servers remove the folder of a lock whenever nobody has it for a moment.
func TestRemovedFolderIsNotMadeAgain(t *testing.T) {
	t.Parallel()
	server := testenv.StartZooKeeper(t, &testenv.ZooKeeperOptions{ContainerCheck: 50 * time.Millisecond})[0]
	b, other := open(t, nil, server.Addr()), raw(t, server)
	var last uint64
	for range 5 {
		g := mustAcquire(t, b, request("a", "me:1"))
		if g.Token <= last {
			t.Errorf("token %d after %d", g.Token, last)
		}
		last = g.Token
		if _, err := b.Release(ctxFor(t), g); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the folder is removed", func() bool {
			there, _, err := other.Exists("/bedrock/lock/a")
			return err == nil && !there
		})
	}
	info, err := b.(driver.Inspector).Inspect(ctxFor(t), "a")
	if err != nil || info.Token < last {
		t.Errorf("the newest token is %d, shown is %+v, %v", last, info, err)
	}
}
