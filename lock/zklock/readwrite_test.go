package zklock_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/zklock"
)

// requestIn asks for a usual lease in a mode, and says that it waits.
func requestIn(mode driver.Mode, name, owner string) driver.Request {
	req := request(name, owner)
	req.Mode, req.Waits = mode, true
	return req
}

// inLine is a client that waits in the line of a read-write lock.
type inLine struct {
	driver.Backend
	told driver.Watch
	req  driver.Request
}

// waitInLine has a client of its own wait, which is told when its turn comes.
func waitInLine(t testing.TB, addr string, req driver.Request) *inLine {
	t.Helper()
	w := &inLine{Backend: open(t, nil, addr), req: req}
	mustBeHeld(t, w, req)
	watch, err := w.Backend.(driver.Waiter).Watch(ctxFor(t), req.Name, driver.ReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(watch.Close)
	w.told = watch
	return w
}

// TestReleaseWakesTheWholeLine: each in it waits for one node, a reader for the nearest writer before it.
func TestReleaseWakesTheWholeLine(t *testing.T) {
	t.Parallel()
	server := testenv.StartZooKeeper(t, nil)[0]
	b := open(t, nil, server.Addr())
	first := mustAcquire(t, b, requestIn(driver.Write, "a", "first:1"))
	var line []*inLine
	for _, who := range []struct {
		mode  driver.Mode
		owner string
	}{
		{driver.Shared, "reader:1"},
		{driver.Shared, "reader:2"},
		{driver.Write, "writer:3"},
		{driver.Shared, "reader:4"},
		{driver.Write, "writer:5"},
	} {
		line = append(line, waitInLine(t, server.Addr(), requestIn(who.mode, "a", who.owner)))
	}
	if n := figure(t, server, "zk_watch_count"); n > 2*len(line)+1 {
		t.Errorf("%d watches", n)
	}
	last := releaseAndServe(t, first, b, line[:2], line[2:]) // both readers
	if _, err := line[0].Release(ctxFor(t), last[0]); err != nil {
		t.Fatal(err)
	}
	mustBeHeld(t, line[2], line[2].req)
	last = releaseAndServe(t, last[1], line[1], line[2:3], line[3:])
	last = releaseAndServe(t, last[0], line[2], line[3:4], line[4:])
	releaseAndServe(t, last[0], line[3], line[4:], nil)
}

// releaseAndServe gives a grant back, and has those come whose turn it is. The others are told nothing.
func releaseAndServe(t testing.TB, g driver.Grant, by driver.Backend, next, others []*inLine) (grants []driver.Grant) {
	t.Helper()
	if _, err := by.Release(ctxFor(t), g); err != nil {
		t.Fatal(err)
	}
	for _, w := range next {
		eventually(t, w.req.Owner+" is told", func() bool { return w.told.Count() > 0 })
		granted := mustAcquire(t, w, w.req)
		if granted.Token <= g.Token {
			t.Errorf("%s has token %d after %d", w.req.Owner, granted.Token, g.Token)
		}
		grants = append(grants, granted)
	}
	for _, w := range others {
		if w.told.Count() > 0 {
			t.Errorf("%s is told, too", w.req.Owner)
		}
		mustBeHeld(t, w, w.req)
	}
	return grants
}

// TestReaderOverAWriterIsNewerThanTheLine: its node comes last, and it has the lock before all that wait.
func TestReaderOverAWriterIsNewerThanTheLine(t *testing.T) {
	t.Parallel()
	server := testenv.StartZooKeeper(t, nil)[0]
	b, other := open(t, nil, server.Addr()), raw(t, server)
	req := requestIn(driver.Write, "a", "me:1")
	req.Tokens = 8
	writes := mustAcquire(t, b, req)
	next := waitInLine(t, server.Addr(), requestIn(driver.Write, "a", "next:1"))
	var reads []driver.Grant
	for _, owner := range []string{"me:2", "me:3"} {
		req := requestIn(driver.Shared, "a", owner)
		req.Over = "me:1"
		g := mustAcquire(t, b, req)
		if again := mustAcquire(t, b, req); again != g {
			t.Errorf("asked for again it is %+v after %+v", again, g)
		}
		reads = append(reads, g)
	}
	if reads[0].Token < writes.Token+uint64(writes.Tokens) || reads[1].Token <= reads[0].Token {
		t.Errorf("tokens %d and %d over %d", reads[0].Token, reads[1].Token, writes.Token)
	}
	node := nodesOf(t, other, "a", writes.Owner)[0]
	for _, r := range reads {
		if want, got := number(node), nodesOf(t, other, "a", r.Owner)[0]; number(got) != want {
			t.Errorf("the node is %s over %s", got, node)
		}
	}
	info, err := b.(driver.Inspector).Inspect(ctxFor(t), "a")
	if err != nil || len(info.Holders) != 3 || info.Waiting != 1 {
		t.Errorf("it is shown as %+v, %v", info, err)
	}
	for _, g := range append(reads[:1:1], writes) {
		if _, err := b.Release(ctxFor(t), g); err != nil {
			t.Fatal(err)
		}
	}
	mustBeHeld(t, next, next.req)
	if g := releaseAndServe(t, reads[1], b, []*inLine{next}, nil)[0]; g.Token <= reads[1].Token {
		t.Errorf("token %d after %d", g.Token, reads[1].Token)
	}
}

// nodesOf returns the names of an owner's nodes in the folder of a lock.
func nodesOf(t testing.TB, conn *zk.Conn, folder, owner string) (found []string) {
	t.Helper()
	nodes, _, err := conn.Children("/bedrock/lock/" + folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes {
		if strings.HasPrefix(n, zklock.PrefixOf(owner)) {
			found = append(found, n)
		}
	}
	if len(found) == 0 {
		t.Fatalf("%s has no node in %q", owner, nodes)
	}
	return found
}

// number is that of a reader's node, or a writer's.
func number(node string) string { return node[strings.LastIndexByte(node, '_')+1:] }

// TestDowngradedWriterLeavesItsPlace: Curator's readers over a writer have its number.
func TestDowngradedWriterLeavesItsPlace(t *testing.T) {
	t.Parallel()
	server := testenv.StartZooKeeper(t, nil)[0]
	b, other := open(t, nil, server.Addr()), raw(t, server)
	g := mustAcquire(t, b, requestIn(driver.Write, "a", "me:1"))
	next := waitInLine(t, server.Addr(), requestIn(driver.Write, "a", "next:1"))
	before := nodesOf(t, other, "a", g.Owner)[0]
	if err := b.(driver.Downgrader).Downgrade(ctxFor(t), g); err != nil {
		t.Fatal(err)
	}
	after := nodesOf(t, other, "a", g.Owner)
	if want := zklock.PrefixOf(g.Owner) + "__READ__" + number(before); len(after) != 1 || after[0] != want {
		t.Errorf("the node is %q, want %s", after, want)
	}
	mustBeHeld(t, next, next.req)
	eventually(t, "the waiting writer watches the reader, as that itself does", func() bool {
		_, watchers, _ := strings.Cut(server.Ask("wchp"), after[0]+"\n")
		watchers, _, _ = strings.Cut(watchers, "/")
		return strings.Count(watchers, "\t0x") == 2
	})
	if next.told.Count() > 0 {
		t.Error("it is told that its turn has come")
	}
	releaseAndServe(t, g, b, []*inLine{next}, nil)
}

// TestLostReplyToDowngradeLosesTheLock: the node is found again, whether it has become another one or not.
func TestLostReplyToDowngradeLosesTheLock(t *testing.T) {
	t.Parallel()
	server := testenv.StartZooKeeper(t, nil)[0]
	proxy := proxyTo(t, server.Addr())
	b, other := open(t, nil, proxy.Addr()), open(t, nil, server.Addr())
	g := mustAcquire(t, b, requestIn(driver.Write, "a", "me:1"))
	proxy.DropRepliesTo("__READ__", 1)
	if err := b.(driver.Downgrader).Downgrade(ctxFor(t), g); err == nil || proxy.Evidence().RepliesLost != 1 {
		t.Fatalf("no reply was lost: %v, %+v", err, proxy.Evidence())
	}
	eventually(t, "it is renewed", func() bool {
		err := b.Renew(ctxFor(t), []driver.Grant{g})[0]
		if errors.Is(err, driver.ErrLost) {
			t.Fatal(err)
		}
		return err == nil
	})
	if err := b.(driver.Downgrader).Downgrade(ctxFor(t), g); err != nil {
		t.Error(err)
	}
	reads := mustAcquire(t, other, requestIn(driver.Shared, "a", "other:1"))
	for _, held := range []driver.Grant{g, reads} {
		mustBeHeld(t, other, requestIn(driver.Write, "a", "other:2"))
		if _, err := b.Release(ctxFor(t), held); err != nil {
			t.Error(err)
		}
	}
	mustAcquire(t, other, requestIn(driver.Write, "a", "other:2"))
}

// TestDowngradeUnderWayDelaysClose: a writer becomes a reader on a server that does not answer, and its time is over
// meanwhile.
func TestDowngradeUnderWayDelaysClose(t *testing.T) {
	t.Parallel()
	server := testenv.StartZooKeeper(t, nil)[0]
	b := open(t, long(), server.Addr())
	req := requestIn(driver.Write, "a", "me:1")
	req.TTL = 2 * time.Second
	g := mustAcquire(t, b, req)
	server.Freeze()
	defer server.Thaw()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := b.(driver.Downgrader).Downgrade(ctx, g); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a frozen server: %v", err)
	}
	<-time.After(req.TTL + 500*time.Millisecond) // it is being ended by now
	start := time.Now()
	_ = b.Close()
	if took := time.Since(start); took > time.Second {
		t.Errorf("closed after %s", took)
	}
}

// TestReadersWhoUpgradeAreLetIn: nothing in a node tells of them, so they are refused.
func TestReadersWhoUpgradeAreLetIn(t *testing.T) {
	t.Parallel()
	b := open(t, nil, testenv.StartZooKeeper(t, nil)[0].Addr())
	req := requestIn(driver.Shared, "a", "me:1")
	req.Upgradeable = true
	if _, err := b.Acquire(ctxFor(t), req); !errors.Is(err, driver.ErrUnsupported) {
		t.Errorf("want ErrUnsupported, got %v", err)
	}
}
