package quorum_test

import (
	"sync"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/internal/several/severaltest"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/quorum"
)

// TestForcedReleaseHitsTheNextHolder: it is on its way to a slow node when it has returned, and whoever takes the lock
// then has it from that node, too.
func TestForcedReleaseHitsTheNextHolder(t *testing.T) {
	several(t, 3, func(t *testing.T, nodes severaltest.Servers) {
		a, b, c := join(t, nodes, nil), join(t, nodes, nil), join(t, nodes, nil)
		mustUnlock(t, mustLock(t, b, "warm up"))
		mustUnlock(t, mustLock(t, c, "warm up"))
		mustLock(t, a, "a")
		pass(time.Second)
		c.lines[2].Fail(bedrocktest.ForceRelease, bedrocktest.Fault{Delay: 500 * time.Millisecond})
		wantForced(t, c, "a")
		pass(50 * time.Millisecond)
		b.down(1)
		lease := mustLock(t, b, "a")
		pass(time.Second)
		wantHeld(t, lease, "the next holder, a second later")
		b.up(1)
	})
}

// TestForcedReleaseIsUndone: somebody takes a lock away at one node after the other, and the victim asks for votes that
// it lacks meanwhile: none of those it was just told are gone.
func TestForcedReleaseIsUndone(t *testing.T) {
	for name, delays := range map[string][5]int{
		"quickly":          {20, 0, 0, 15, 15},
		"little by little": {200, 0, 0, 40, 200},
	} {
		t.Run(name, func(t *testing.T) {
			for range 10 { // which of those that wake at one moment goes first is chance
				five(t, func(t *testing.T, nodes severaltest.Servers) { isForcedAtEachInTurn(t, nodes, delays) })
			}
		})
	}
}

// isForcedAtEachInTurn has a lock taken away at each node, so many milliseconds later.
func isForcedAtEachInTurn(t *testing.T, nodes severaltest.Servers, delays [5]int) {
	t.Helper()
	a, b := joinTwo(t, nodes)
	raise(t, nodes[0], uint64(time.Now().UnixMicro())+1_000_000_000)
	for _, line := range a.lines[:3] { // the first node's token is agreed on
		line.Fail(bedrocktest.Acquire, after(5), after(1))
	}
	for _, line := range a.lines[3:] { // they keep lower ones
		line.Fail(bedrocktest.Acquire, after(6), after(8))
	}
	victim := mustLock(t, a, "a")
	var group sync.WaitGroup
	for i, delay := range delays {
		group.Go(func() {
			pass(time.Duration(delay) * time.Millisecond)
			mustForce(t, nodes[i:i+1], "a")
		})
	}
	group.Wait()
	wantFreeSoon(t, b, "a", "after a forced release")
	wantErr(t, victim.Unlock(t.Context()), lock.ErrLost)
	wantNothingLeft(t, nodes, time.Second)
}

// TestForcedReleaseIsUndoneWhereItFoundNothing: it comes to a node that has no vote of the holder's, who asks for that
// afterwards; it does not come to another one that has.
func TestForcedReleaseIsUndoneWhereItFoundNothing(t *testing.T) {
	several(t, 3, func(t *testing.T, nodes severaltest.Servers) {
		a, b := joinTwo(t, nodes)
		a.lines[2].Fail(bedrocktest.Acquire, bedrocktest.Fault{Before: driver.ErrUnavailable})
		victim := mustLock(t, a, "a")
		b.lines[0].Fail(bedrocktest.ForceRelease, after(300))
		b.lines[1].Fail(bedrocktest.ForceRelease, bedrocktest.Fault{Before: driver.ErrUnavailable})
		wantForced(t, b, "a")
		wantFreeSoon(t, b, "a", "after a forced release")
		wantErr(t, victim.Unlock(t.Context()), lock.ErrLost)
	})
}

// TestForcedReleaseOfAllIsUndone: one vote keeps everybody else out, and one node was started anew. The holder asks for
// its vote when the forced release has been there, and before it comes to the others.
func TestForcedReleaseOfAllIsUndone(t *testing.T) {
	several(t, 3, func(t *testing.T, nodes severaltest.Servers) {
		opts := &quorum.Options{Majority: 3, Quarantine: -1}
		a, b := join(t, nodes, opts), join(t, nodes, opts)
		mustUnlock(t, mustLock(t, a, "warm up"))
		mustUnlock(t, mustLock(t, b, "warm up"))
		victim := mustLock(t, a, "a")
		nodes[1].Restart()
		a.lines[1].Fail(bedrocktest.Acquire, after(300))
		for before := a.lines[0].Calls(bedrocktest.Renew); a.lines[0].Calls(bedrocktest.Renew) == before; {
			pass(time.Millisecond)
		}
		b.lines[0].Fail(bedrocktest.ForceRelease, after(500))
		b.lines[2].Fail(bedrocktest.ForceRelease, after(500))
		wantForced(t, b, "a")
		wantFreeSoon(t, b, "a", "after a forced release")
		wantErr(t, victim.Unlock(t.Context()), lock.ErrLost)
	})
}

// TestForcedReleaseIsForgottenByTheGrant: all nodes have given their votes when they are taken away, which is told, and
// the answers come after that.
func TestForcedReleaseIsForgottenByTheGrant(t *testing.T) {
	several(t, 3, func(t *testing.T, nodes severaltest.Servers) {
		a, b := joinTwo(t, nodes)
		for _, line := range a.lines {
			line.Fail(bedrocktest.Acquire, bedrocktest.Fault{Linger: 50 * time.Millisecond})
		}
		go func() {
			pass(10 * time.Millisecond)
			wantForced(t, b, "a")
		}()
		victim := mustLock(t, a, "a") // once more: what it was given first is gone
		_, err := b.Mutex("a", nil).TryLock(t.Context())
		wantErr(t, err, lock.ErrHeld)
		mustUnlock(t, victim)
		wantNothingLeft(t, nodes, time.Second)
	})
}

// joinTwo makes two clients that have reached all nodes, which have nothing left to do.
func joinTwo(t *testing.T, nodes severaltest.Servers) (a, b *member) {
	t.Helper()
	a, b = join(t, nodes, nil), join(t, nodes, nil)
	mustUnlock(t, mustLock(t, a, "warm up"))
	mustUnlock(t, mustLock(t, b, "warm up"))
	pass(5 * time.Second)
	return a, b
}

func wantForced(t *testing.T, m *member, name string) {
	t.Helper()
	if was, err := m.ForceRelease(t.Context(), name); !was || err != nil {
		t.Errorf("force: %t, %v", was, err)
	}
}

// after is a request that takes so many milliseconds to its node.
func after(ms int) bedrocktest.Fault {
	return bedrocktest.Fault{Delay: time.Duration(ms) * time.Millisecond}
}

// TestForcedReleaseIsUndoneByADeafVictim: half of the nodes have forgotten it when it renews, for all it knows, and
// the others do so soon.
func TestForcedReleaseIsUndoneByADeafVictim(t *testing.T) {
	several(t, 4, func(t *testing.T, nodes severaltest.Servers) {
		lines, backends := nodes.Connect()
		for i, line := range lines {
			backends[i] = deaf{line}
		}
		opts := &quorum.Options{Majority: 3}
		a, b := memberOf(t, lines, backends, opts), join(t, nodes, opts)
		victim := mustLock(t, a, "a")
		pass(time.Second)
		mustForce(t, nodes[:2], "a")
		for lines[0].Calls(bedrocktest.Renew) == 0 {
			pass(10 * time.Millisecond)
		}
		mustForce(t, nodes[2:], "a")
		pass(30 * time.Second)
		wantFreeSoon(t, b, "a", "after a forced release")
		wantErr(t, victim.Unlock(t.Context()), lock.ErrLost)
	})
}

// deaf is a line by which nothing is told.
type deaf struct{ *bedrocktest.Backend }

// Notify implements [driver.Notifier].
func (deaf) Notify(func(driver.Message)) {}

// mustForce takes a lock away at those nodes, if they have it.
func mustForce(t *testing.T, nodes severaltest.Servers, name string) {
	t.Helper()
	for _, n := range nodes {
		if _, err := n.Client().(driver.Forcer).ForceRelease(t.Context(), name); err != nil {
			t.Errorf("force: %v", err)
		}
	}
}

// wantFreeSoon fails the test unless a lock can be had within a moment.
func wantFreeSoon(t *testing.T, m *member, name, when string) {
	t.Helper()
	lease, err := m.Mutex(name, &lock.MutexOptions{Wait: 100 * time.Millisecond}).Lock(t.Context())
	if err != nil {
		t.Errorf("%s: %v", when, err)
		return
	}
	mustUnlock(t, lease)
}
