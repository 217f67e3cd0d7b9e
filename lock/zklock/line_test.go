package zklock_test

import (
	"context"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/zklock"
)

// TestForeignNodesAreOverlooked: whatever is in the folder of a lock stands in its line, as Curator has it.
func TestForeignNodesAreOverlooked(t *testing.T) {
	t.Parallel()
	server := testenv.StartZooKeeper(t, nil)[0]
	b, other := open(t, nil, server.Addr()), raw(t, server)
	g := mustAcquire(t, b, request("a", "me:1"))
	for _, foreign := range []string{
		"_c_short", "_c_", "0", "_c_82bd6e63-2e6c-475c-b517-9f24b94791f4-lock-", "0lock-", "lock-",
	} {
		path := "/bedrock/lock/a/" + foreign
		if _, err := other.Create(path, []byte("10.1.2.3"), zk.FlagEphemeral, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
		if errs := b.Renew(ctxFor(t), []driver.Grant{g}); errs[0] != nil {
			t.Errorf("%s costs the lock: %v", foreign, errs[0])
		}
		if _, err := b.Release(ctxFor(t), g); err != nil {
			t.Fatal(err)
		}
		if held := mustBeHeld(t, b, request("a", "me:2")); held.Owner != "10.1.2.3" {
			t.Errorf("held by %q", held.Owner)
		}
		if err := other.Delete(path, -1); err != nil {
			t.Fatal(err)
		}
		g = mustAcquire(t, b, request("a", "me:1"))
	}
}

// TestNodeOfAnOldSessionIsBelievedIn: a server may show for a while what an old session has left.
func TestNodeOfAnOldSessionIsBelievedIn(t *testing.T) {
	t.Parallel()
	server := testenv.StartZooKeeper(t, nil)[0]
	b, other := open(t, nil, server.Addr()), raw(t, server)
	g := mustAcquire(t, b, request("a", "me:1"))
	if _, err := b.Release(ctxFor(t), g); err != nil {
		t.Fatal(err)
	}
	req := request("a", "me:2")
	old, err := other.Create("/bedrock/lock/a/"+zklock.PrefixOf(req.Owner)+"lock-", nil,
		zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll))
	if err != nil {
		t.Fatal(err)
	}
	mustAcquire(t, b, req)
	if there, _, err := other.Exists(old); err != nil || there {
		t.Errorf("the old node is there: %t, %v", there, err)
	}
	nodes, _, err := other.Children("/bedrock/lock/a")
	if err != nil || len(nodes) != 1 {
		t.Fatal(nodes, err)
	}
	_, stat, err := other.Exists("/bedrock/lock/a/" + nodes[0])
	if err != nil || stat.EphemeralOwner == other.SessionID() {
		t.Errorf("the grant's node is of session %x: %v", stat.EphemeralOwner, err)
	}
}

// TestKindsAreTakenForEachOther has the nodes of Curator's other recipes in the folder, and asks for what is of another
// kind.
func TestKindsAreTakenForEachOther(t *testing.T) {
	t.Parallel()
	const id = "_c_82bd6e63-2e6c-475c-b517-9f24b94791f4-"
	server := testenv.StartZooKeeper(t, nil)[0]
	b, other := open(t, nil, server.Addr()), raw(t, server)
	for i, foreign := range []struct {
		node string
		kind driver.Kind
	}{
		{id + "__READ__0000000000", driver.ReadWrite},
		{id + "__WRIT__0000000000", driver.ReadWrite},
		{id + "lock-0000000000", driver.Mutex},
		{"leases/" + id + "lease-0000000000", driver.Semaphore},
		{"locks/" + id + "lock-0000000000", driver.Semaphore},
		{id + "latch-0000000000", driver.Mutex},
	} {
		name := strconv.Itoa(i)
		permit := request(name, "me:1")
		permit.Mode, permit.Permits, permit.Limit = driver.Permit, 1, 1
		if _, err := b.Release(ctxFor(t), mustAcquire(t, b, permit)); err != nil { // it makes the folders
			t.Fatal(err)
		}
		folder := "/bedrock/lock/" + name
		all := zk.WorldACL(zk.PermAll)
		if _, err := other.CreateContainer(folder+"/locks", nil, zk.FlagContainer, all); err != nil {
			t.Fatal(err)
		}
		if _, err := other.Create(folder+"/"+foreign.node, nil, zk.FlagEphemeral, all); err != nil {
			t.Fatal(err)
		}
		for _, mode := range []driver.Mode{driver.Exclusive, driver.Shared, driver.Write, driver.Permit} {
			if mode.Kind() == foreign.kind && !strings.Contains(foreign.node, "latch-") {
				continue
			}
			req := request(name, "me:2")
			req.Mode = mode
			if req.Waits = true; mode == driver.Permit {
				req.Permits, req.Limit = 1, 1
			}
			for _, ask := range []func(context.Context, driver.Request) (driver.Grant, error){
				b.Acquire, b.(driver.Successor).Stand,
			} {
				_, err := ask(ctxFor(t), req)
				if told, ok := errors.AsType[*driver.KindError](err); !errors.Is(err, driver.ErrKind) ||
					ok && (told.Found != foreign.kind || told.Wanted != mode.Kind()) {
					t.Errorf("%s is asked for in mode %s: %v", foreign.node, mode, err)
				}
			}
		}
		if left := contenders(t, other, folder); len(left) != 1 {
			t.Errorf("left behind beside %s: %q", foreign.node, left)
		}
	}
}

// contenders returns the nodes of recipes in the folder of a lock, and in those below it.
func contenders(t testing.TB, conn *zk.Conn, folder string) (found []string) {
	t.Helper()
	nodes, _, err := conn.Children(folder)
	if err != nil && !errors.Is(err, zk.ErrNoNode) {
		t.Fatal(err)
	}
	for _, n := range nodes {
		if strings.HasPrefix(n, "_c_") {
			found = append(found, n)
			continue
		}
		found = append(found, contenders(t, conn, folder+"/"+n)...)
	}
	return found
}

// TestWaitersKeepTheServersBusy has a thousand goroutines of one process wait for one lock.
func TestWaitersKeepTheServersBusy(t *testing.T) {
	t.Parallel()
	const waiters = 1000
	server := testenv.StartZooKeeper(t, nil)[0]
	a, b := connect(t, nil, server.Addr()), connect(t, nil, server.Addr())
	lease, err := a.Mutex("a", nil).Lock(ctxFor(t))
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range waiters {
		all.Go(func() {
			l, err := b.Mutex("a", nil).Lock(ctxFor(t))
			if err == nil {
				err = l.Unlock(ctxFor(t))
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	eventually(t, "all wait", func() bool {
		info, err := b.Inspect(ctxFor(t), "a")
		return err == nil && info.Local == waiters-1
	})
	<-time.After(100 * time.Millisecond) // the holder's own watch
	before := figure(t, server, "zk_packets_received")
	<-time.After(time.Second)
	if n := figure(t, server, "zk_packets_received") - before; n > 20 {
		t.Errorf("%d packets a second", n)
	}
	if n := figure(t, server, "zk_watch_count"); n > 3 {
		t.Errorf("%d watches", n)
	}
	if err := lease.Unlock(ctxFor(t)); err != nil {
		t.Error(err)
	}
	all.Wait()
}

// figure reads one of the figures of a server.
func figure(t testing.TB, server *testenv.ZooKeeperServer, name string) int {
	t.Helper()
	found := regexp.MustCompile(name + `\t(\d+)`).FindStringSubmatch(server.Ask("mntr"))
	if found == nil {
		t.Fatalf("no %s", name)
	}
	n, _ := strconv.Atoi(found[1])
	return n
}

// TestLongWaitLosesTheTurn has processes wait for longer than their requests stand: the holder's release wakes one.
func TestLongWaitLosesTheTurn(t *testing.T) {
	t.Parallel()
	server := testenv.StartZooKeeper(t, nil)[0]
	opts := &zklock.Options{Lock: lock.Options{TTL: time.Second}}
	a := connect(t, opts, server.Addr())
	lease, err := a.Mutex("a", nil).Lock(ctxFor(t))
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan error, 3)
	for range cap(got) {
		c := connect(t, opts, server.Addr())
		go func() {
			l, err := c.Mutex("a", nil).Lock(ctxFor(t))
			if err == nil {
				err = l.Unlock(ctxFor(t))
			}
			got <- err
		}()
	}
	<-time.After(4 * time.Second)
	if err := lease.Err(); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if err := lease.Unlock(ctxFor(t)); err != nil {
		t.Fatal(err)
	}
	for range cap(got) {
		if err := <-got; err != nil {
			t.Error(err)
		}
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("three turns took %s", took)
	}
}

// TestNoteBesideWhoStands: there is no grant beside which it would stand.
func TestNoteBesideWhoStands(t *testing.T) {
	t.Parallel()
	server := testenv.StartZooKeeper(t, nil)[0]
	b, other := open(t, nil, server.Addr()), open(t, nil, server.Addr())
	mustAcquire(t, other, request("a", "other:1"))
	b.(driver.Successor).Inherit(func(driver.Grant) {})
	req := request("a", "me:1")
	if _, err := b.(driver.Successor).Stand(ctxFor(t), req); !errors.Is(err, driver.ErrHeld) {
		t.Fatal(err)
	}
	if err := b.(driver.Annotator).Annotate(ctxFor(t), req.Ungranted(), "{}"); !errors.Is(err, driver.ErrLost) {
		t.Errorf("a note beside who stands: %v", err)
	}
}

// TestRemovedHeirIsGranted removes the node of who stands in line, and that of the holder with it: both are told at
// once.
func TestRemovedHeirIsGranted(t *testing.T) {
	t.Parallel()
	server := testenv.StartZooKeeper(t, nil)[0]
	a, b, other := open(t, nil, server.Addr()), open(t, nil, server.Addr()), raw(t, server)
	told := make(chan driver.Grant, 64)
	b.(driver.Successor).Inherit(func(g driver.Grant) { told <- g })
	for i := range 30 {
		held := mustAcquire(t, a, request("a", "holder:"+strconv.Itoa(i)))
		heir := request("a", "heir:"+strconv.Itoa(i))
		if _, err := b.(driver.Successor).Stand(ctxFor(t), heir); !errors.Is(err, driver.ErrHeld) {
			t.Fatal(err)
		}
		removeNodes(t, other, "/bedrock/lock/a", zklock.PrefixOf(heir.Owner), zklock.PrefixOf(held.Owner))
		next := request("a", "next:"+strconv.Itoa(i)) // what was told before has come when it is answered
		g, err := b.(driver.Successor).Stand(ctxFor(t), next)
		if err != nil || g.Token <= held.Token {
			t.Fatal(g, err)
		}
		if _, err := b.Release(ctxFor(t), g); err != nil {
			t.Fatal(err)
		}
	}
	if len(told) > 0 {
		t.Errorf("%d of 30 were granted what they had no place for", len(told))
	}
}

// removeNodes deletes nodes, by how their names begin, in one step and in that order.
func removeNodes(t testing.TB, conn *zk.Conn, folder string, prefixes ...string) {
	t.Helper()
	nodes, _, err := conn.Children(folder)
	if err != nil {
		t.Fatal(err)
	}
	var all []any
	for _, prefix := range prefixes {
		for _, n := range nodes {
			if strings.HasPrefix(n, prefix) {
				all = append(all, &zk.DeleteRequest{Path: folder + "/" + n, Version: -1})
			}
		}
	}
	if _, err := conn.Multi(all...); err != nil || len(all) != len(prefixes) {
		t.Fatal(len(all), err)
	}
}

// TestRefusalCostsMore counts what a try costs that is refused: a server that stands alone knows everything, one
// of several has to hear from the leader first.
func TestRefusalCostsMore(t *testing.T) {
	t.Parallel()
	const tries = 20
	for n, want := range map[int]int{1: 2, 3: 4} {
		servers := testenv.StartZooKeeper(t, &testenv.ZooKeeperOptions{Servers: n})
		b, other := open(t, nil, servers[0].Addr()), open(t, nil, servers[n-1].Addr())
		g := mustAcquire(t, b, request("a", "me:1"))
		mustBeHeld(t, other, request("a", "other:1"))
		before := figure(t, servers[n-1], "zk_packets_received")
		for range tries {
			mustBeHeld(t, other, request("a", "other:1"))
		}
		cost := figure(t, servers[n-1], "zk_packets_received") - before
		if cost < tries*want || cost > tries*want+tries/2 { // pings, and questions for the figures
			t.Errorf("%d requests for %d refusals by one of %d servers", cost, tries, n)
		}
		if _, err := b.Release(ctxFor(t), g); err != nil {
			t.Fatal(err)
		}
		mustAcquire(t, other, request("a", "other:1"))
	}
}
