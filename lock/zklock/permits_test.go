package zklock_test

import (
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/zklock"
)

// permits asks for some of all.
func permits(owner string, n, limit int) driver.Request {
	req := request("a", owner)
	req.Mode, req.Permits, req.Limit = driver.Permit, n, limit
	return req
}

// TestPermitsAreTakenByNobody has eight ask for two permits at once: two have them, and not fewer.
func TestPermitsAreTakenByNobody(t *testing.T) {
	t.Parallel()
	server := testenv.StartZooKeeper(t, nil)[0]
	backends := make([]driver.Backend, 8)
	for i := range backends {
		backends[i] = open(t, nil, server.Addr())
	}
	for round := range 20 {
		var (
			all     sync.WaitGroup
			mu      sync.Mutex
			granted []driver.Grant
		)
		for i, b := range backends {
			all.Go(func() {
				g, err := b.Acquire(ctxFor(t), permits(strconv.Itoa(i)+":"+strconv.Itoa(round), 1, 2))
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					granted = append(granted, g)
				} else if !errors.Is(err, driver.ErrHeld) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if len(granted) != 2 {
			t.Fatalf("%d have two permits", len(granted))
		}
		for _, g := range granted {
			if _, err := backends[0].Release(ctxFor(t), g); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestLostPermitLeavesTheOthers removes one of the nodes of a grant of three.
func TestLostPermitLeavesTheOthers(t *testing.T) {
	t.Parallel()
	server := testenv.StartZooKeeper(t, nil)[0]
	b, other := open(t, nil, server.Addr()), raw(t, server)
	for at := range 3 {
		g := mustAcquire(t, b, permits("me:"+strconv.Itoa(at), 3, 3))
		nodes := nodesOf(t, other, "a/leases", g.Owner)
		if len(nodes) != 3 {
			t.Fatalf("three permits are %q", nodes)
		}
		if err := other.Delete("/bedrock/lock/a/leases/"+nodes[at], -1); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the others are gone, too", func() bool {
			if err := b.Renew(ctxFor(t), []driver.Grant{g})[0]; !errors.Is(err, driver.ErrLost) {
				t.Fatalf("want ErrLost, got %v", err)
			}
			return len(contenders(t, other, "/bedrock/lock/a")) == 0
		})
	}
}

// TestStrayPermitIsFree: whatever lies among the leases is a permit that somebody has.
func TestStrayPermitIsFree(t *testing.T) {
	t.Parallel()
	server := testenv.StartZooKeeper(t, nil)[0]
	b, other := open(t, nil, server.Addr()), raw(t, server)
	g := mustAcquire(t, b, permits("me:1", 1, 2))
	const stray = "/bedrock/lock/a/leases/x"
	if _, err := other.Create(stray, []byte("10.1.2.3"), zk.FlagEphemeral, zk.WorldACL(zk.PermAll)); err != nil {
		t.Fatal(err)
	}
	mustBeHeld(t, b, permits("me:2", 1, 2))
	if again := mustAcquire(t, b, permits("me:1", 1, 2)); again.Token != g.Token {
		t.Errorf("token %d after %d", again.Token, g.Token)
	}
	if err := other.Delete(stray, -1); err != nil {
		t.Fatal(err)
	}
	mustAcquire(t, b, permits("me:2", 1, 2))
	if _, err := b.Acquire(ctxFor(t), permits("me:3", 1001, 2000)); !errors.Is(err, driver.ErrRefused) {
		t.Errorf("more permits than one request makes: %v", err)
	}
}

// TestLostReplyToPermitsLeavesThem asks again for what may have been granted.
func TestLostReplyToPermitsLeavesThem(t *testing.T) {
	t.Parallel()
	server := testenv.StartZooKeeper(t, nil)[0]
	proxy := proxyTo(t, server.Addr())
	b, other := open(t, nil, proxy.Addr()), open(t, nil, server.Addr())
	first := mustAcquire(t, b, permits("me:1", 1, 3))
	req := permits("me:2", 2, 3)
	proxy.DropRepliesTo("lease-", 1)
	if _, err := b.Acquire(ctxFor(t), req); err == nil || errors.Is(err, driver.ErrUnavailable) {
		t.Fatalf("no reply was lost: %v", err)
	}
	var g driver.Grant
	eventually(t, "it has them", func() (granted bool) {
		var err error
		g, err = b.Acquire(ctxFor(t), req)
		return err == nil
	})
	mustBeHeld(t, other, permits("other:1", 1, 3))
	for _, held := range []driver.Grant{g, first} {
		if _, err := b.Release(ctxFor(t), held); err != nil {
			t.Error(err)
		}
	}
	mustAcquire(t, other, permits("other:1", 3, 3))
}

// TestLeaderLatchIsAMutex has the nodes of Curator's recipe, and nothing else.
func TestLeaderLatchIsAMutex(t *testing.T) {
	t.Parallel()
	server := testenv.StartZooKeeper(t, nil)[0]
	opts := &zklock.Options{Profile: zklock.CuratorLatch, Root: "/bedrock/lock"}
	b, other := open(t, opts, server.Addr()), raw(t, server)
	g := mustAcquire(t, b, request("a", "me:1"))
	data, _, err := other.Get("/bedrock/lock/a/" + zklock.PrefixOf("me:1") + "latch-0000000000")
	if err != nil || string(data) != "me:1" {
		t.Errorf("its node says %q, %v", data, err)
	}
	if held := mustBeHeld(t, b, request("a", "me:2")); held.Owner != "me:1" {
		t.Errorf("held by %q", held.Owner)
	}
	if err := b.(driver.Annotator).Annotate(ctxFor(t), g, "{}"); !errors.Is(err, driver.ErrUnsupported) {
		t.Errorf("annotate: %v", err)
	}
	for _, mode := range []driver.Mode{driver.Shared, driver.Write, driver.Permit} {
		req := requestIn(mode, "b", "me:1")
		if mode == driver.Permit {
			req.Permits, req.Limit = 1, 1
		}
		if _, err := b.Acquire(ctxFor(t), req); !errors.Is(err, driver.ErrUnsupported) {
			t.Errorf("mode %s: %v", mode, err)
		}
	}
	infos, err := b.(driver.Inspector).List(ctxFor(t), "", 10)
	if err != nil || len(infos) != 1 || infos[0].Name != "a" || infos[0].Holders[0].Owner != "me:1" {
		t.Errorf("listed are %+v, %v", infos, err)
	}
	if _, err := b.Release(ctxFor(t), g); err != nil {
		t.Error(err)
	}
}

// TestPathsHideOtherKinds lists locks of all kinds whose names are paths.
func TestPathsHideOtherKinds(t *testing.T) {
	t.Parallel()
	server := testenv.StartZooKeeper(t, nil)[0]
	b := open(t, &zklock.Options{Profile: zklock.Curator, Root: "/locks"}, server.Addr())
	want := map[string]driver.Kind{"x/m": driver.Mutex, "x/r": driver.ReadWrite, "x/s": driver.Semaphore}
	for name, kind := range want {
		req := requestIn(kind.Mode(), name, "me:1")
		if kind == driver.Semaphore {
			req.Permits, req.Limit = 2, 3
		}
		mustAcquire(t, b, req)
	}
	infos, err := b.(driver.Inspector).List(ctxFor(t), "", 10)
	if err != nil || len(infos) != len(want) {
		t.Fatalf("listed are %+v, %v", infos, err)
	}
	for _, info := range infos {
		if kind, ok := want[info.Name]; !ok || kind != info.Kind || len(info.Holders) != 1 {
			t.Errorf("listed is %+v", info)
		}
	}
}

// TestPermitsOutgrowTheirRequest: who asks for more nodes than a request has room for is refused, and not cut off.
func TestPermitsOutgrowTheirRequest(t *testing.T) {
	t.Parallel()
	b := open(t, long(), testenv.StartZooKeeper(t, nil)[0].Addr())
	req := permits("me:1", 1000, 1000)
	req.Name = strings.Repeat("ж", 200) // its folder takes six bytes for each
	if _, err := b.Acquire(ctxFor(t), req); !errors.Is(err, driver.ErrRefused) {
		t.Fatalf("got %v, want a refusal", err)
	}
	for req.Permits = 1; ; req.Permits += 100 { // what is not refused is granted
		g, err := b.Acquire(ctxFor(t), req)
		if errors.Is(err, driver.ErrRefused) {
			return
		}
		if err != nil {
			t.Fatalf("%d permits: %v", req.Permits, err)
		}
		mustRelease(t, b, g)
	}
}

// TestForcedReleaseOutgrowsItsRequest: several holders have more nodes than one request can delete.
func TestForcedReleaseOutgrowsItsRequest(t *testing.T) {
	t.Parallel()
	const holders, each = 4, 300
	b := open(t, long(), testenv.StartZooKeeper(t, nil)[0].Addr())
	req := permits("me:1", each, each*holders)
	req.Name = strings.Repeat("ж", 200) // a node's path has some 1,300 bytes, a request has 1 MB at most
	for i := range holders {
		req.Owner = "me:" + strconv.Itoa(i)
		mustAcquire(t, b, req)
	}
	if held, err := b.(driver.Forcer).ForceRelease(ctxFor(t), req.Name); !held || err != nil {
		t.Errorf("it is held, and told is %t, %v", held, err)
	}
	req.Owner, req.Limit = "you:1", each
	mustRelease(t, b, mustAcquire(t, b, req))
}
