package quorum_test

import (
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
		if was, err := c.ForceRelease(t.Context(), "a"); !was || err != nil {
			t.Fatalf("force: %t, %v", was, err)
		}
		pass(50 * time.Millisecond)
		b.down(1)
		lease := mustLock(t, b, "a")
		pass(time.Second)
		wantHeld(t, lease, "the next holder, a second later")
		b.up(1)
	})
}

// TestForcedReleaseIsUndone: it comes to some nodes later than to others, and the victim asks for votes that it lacks
// meanwhile: none of those it was just told are gone.
func TestForcedReleaseIsUndone(t *testing.T) {
	for name, delays := range map[string][5]int{
		"quickly":          {20, 0, 0, 15, 15},
		"little by little": {200, 0, 0, 40, 200},
	} {
		t.Run(name, func(t *testing.T) {
			five(t, func(t *testing.T, nodes severaltest.Servers) {
				a, b := join(t, nodes, nil), join(t, nodes, nil)
				mustUnlock(t, mustLock(t, a, "warm up"))
				mustUnlock(t, mustLock(t, b, "warm up"))
				pass(5 * time.Second)
				raise(t, nodes[0], uint64(time.Now().UnixMicro())+1_000_000_000)
				for _, line := range a.lines[:3] { // the first node's token is agreed on
					line.Fail(bedrocktest.Acquire, after(5), after(1))
				}
				for _, line := range a.lines[3:] { // they keep lower ones
					line.Fail(bedrocktest.Acquire, after(6), after(8))
				}
				victim := mustLock(t, a, "a")
				for i, delay := range delays {
					b.lines[i].Fail(bedrocktest.ForceRelease, after(delay))
				}
				if was, err := b.ForceRelease(t.Context(), "a"); !was || err != nil {
					t.Fatalf("force: %t, %v", was, err)
				}
				wantFreeSoon(t, b, "a", "after a forced release")
				wantErr(t, victim.Unlock(t.Context()), lock.ErrLost)
				wantNothingLeft(t, nodes, time.Second)
			})
		})
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

// mustForce takes a lock away at those nodes.
func mustForce(t *testing.T, nodes severaltest.Servers, name string) {
	t.Helper()
	for _, n := range nodes {
		was, err := n.Client().(driver.Forcer).ForceRelease(t.Context(), name)
		if err != nil || !was {
			t.Fatalf("force: %t, %v", was, err)
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
