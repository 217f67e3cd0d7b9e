package zklock_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// onlyNode returns the path of the only node of a lock.
func onlyNode(t testing.TB, conn *zk.Conn, folder string) string {
	t.Helper()
	nodes, _, err := conn.Children(folder)
	if err != nil || len(nodes) != 1 {
		t.Fatalf("want one node: %q, %v", nodes, err)
	}
	return folder + "/" + nodes[0]
}

// TestForcedReleaseIsHeardOfLate takes a lock away whose next renewal is ten seconds off.
func TestForcedReleaseIsHeardOfLate(t *testing.T) {
	t.Parallel()
	server := testenv.StartZooKeeper(t, nil)[0]
	a, b := connect(t, nil, server.Addr()), connect(t, nil, server.Addr())
	lease, err := a.Mutex("a", nil).Lock(ctxFor(t))
	if err != nil {
		t.Fatal(err)
	}
	if held, err := b.ForceRelease(ctxFor(t), "a"); err != nil || !held {
		t.Fatal(held, err)
	}
	select {
	case <-lease.Context().Done():
	case <-time.After(2 * time.Second):
		t.Fatal("the holder has not heard of it")
	}
	if !errors.Is(context.Cause(lease.Context()), lock.ErrLost) {
		t.Error(context.Cause(lease.Context()))
	}
}

// TestObserverHearsOfTheFirstOnly listens where others have a lock in turn: whoever looks who has it now is told when
// that ends, though nobody here is refused.
func TestObserverHearsOfTheFirstOnly(t *testing.T) {
	t.Parallel()
	server := testenv.StartZooKeeper(t, nil)[0]
	a, b := open(t, nil, server.Addr()), open(t, nil, server.Addr())
	g := mustAcquire(t, a, request("a", "me:0"))
	ear, err := b.(driver.Waiter).Watch(ctxFor(t), "a", driver.Mutex)
	if err != nil {
		t.Fatal(err)
	}
	defer ear.Close()
	for i := range 3 {
		if _, err := b.(driver.Inspector).Inspect(ctxFor(t), "a"); err != nil {
			t.Fatal(err)
		}
		next := request("a", "me:"+strconv.Itoa(i+1))
		next.Waits = true
		if held := mustBeHeld(t, a, next); held.Again == 0 {
			t.Fatalf("it has no place: %+v", held)
		}
		mustRelease(t, a, g)
		select {
		case <-ear.C():
		case <-ctxFor(t).Done():
			t.Fatalf("nobody has told of the end of grant %d", i)
		}
		g = mustAcquire(t, a, next)
	}
	mustRelease(t, a, g)
}

// TestRevocationByCuratorIsUnheard asks as Curator's Revoker does.
func TestRevocationByCuratorIsUnheard(t *testing.T) {
	t.Parallel()
	server := testenv.StartZooKeeper(t, nil)[0]
	a, other := connect(t, nil, server.Addr()), raw(t, server)
	lease, err := a.Mutex("a", &lock.MutexOptions{Meta: map[string]string{"job": "x"}}).Lock(ctxFor(t))
	if err != nil {
		t.Fatal(err)
	}
	node := onlyNode(t, other, "/bedrock/lock/a")
	if _, err := other.Set(node, []byte("__REVOKE__"), -1); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the holder is asked", func() bool { _, asked := lease.Plea(); return asked })
	eventually(t, "the holder is named again", func() bool {
		info, err := a.Inspect(ctxFor(t), "a")
		return err == nil && info.Held() && info.Holders[0].Meta["job"] == "x"
	})
	if err := lease.Unlock(ctxFor(t)); err != nil {
		t.Error(err)
	}
}

// TestPleaToCuratorIsCounted asks holders of Curator: one whose lock is revocable has no data.
func TestPleaToCuratorIsCounted(t *testing.T) {
	t.Parallel()
	server := testenv.StartZooKeeper(t, nil)[0]
	b, other := open(t, nil, server.Addr()), raw(t, server)
	g := mustAcquire(t, b, request("a", "me:1")) // makes the folder
	if _, err := b.Release(ctxFor(t), g); err != nil {
		t.Fatal(err)
	}
	for data, want := range map[string]int{"": 1, "127.0.0.1": 0} {
		node, err := other.Create("/bedrock/lock/a/_c_82bd6e63-2e6c-475c-b517-9f24b94791f4-lock-", []byte(data),
			zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll))
		if err != nil {
			t.Fatal(err)
		}
		told, err := b.(driver.Pleader).Plead(ctxFor(t), "a", driver.Plea{})
		if err != nil || told != want {
			t.Errorf("%q: %d were told, want %d: %v", data, told, want, err)
		}
		after, _, err := other.Get(node)
		if err != nil || want == 1 && string(after) != "__REVOKE__" || want == 0 && string(after) != data {
			t.Errorf("%q: it is %q after that, %v", data, after, err)
		}
		if err := other.Delete(node, -1); err != nil {
			t.Fatal(err)
		}
	}
}
