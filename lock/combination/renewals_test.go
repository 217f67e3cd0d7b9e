package combination_test

import (
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/internal/several/severaltest"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// TestLostThoughTwoNodesHaveIt: two nodes were slow once, an hour ago, and answer every renewal. The third one forgets
// the lock, and says so before they have answered.
func TestLostThoughTwoNodesHaveIt(t *testing.T) {
	for name, slow := range map[string]func(*bedrocktest.Backend){
		"a little later": func(l *bedrocktest.Backend) { l.Lag(time.Millisecond) },
		"slow again": func(l *bedrocktest.Backend) {
			l.Fail(bedrocktest.Renew, bedrocktest.Fault{Delay: 8 * time.Millisecond})
		},
	} {
		t.Run(name, func(t *testing.T) {
			three(t, func(t *testing.T, nodes severaltest.Servers) {
				a := join(t, nodes, nil)
				lease := mustLock(t, a, "a")
				for _, l := range a.lines[:2] {
					l.Fail(bedrocktest.Acquire, bedrocktest.Fault{Delay: 8 * time.Millisecond})
				}
				mustUnlock(t, mustLock(t, a, "other"))
				pass(time.Hour)
				wantEqual(t, "nodes that have it", lease.Spread().Held, 3)
				for _, l := range a.lines[:2] {
					slow(l)
				}
				nodes[2].Restart()
				pass(time.Minute)
				wantHeld(t, lease, "two of three nodes have it, and answer")
			})
		})
	}
}

// TestNodeThatNeverHadTheLockSpeaks for two that have it, and were slow once.
func TestNodeThatNeverHadTheLockSpeaks(t *testing.T) {
	three(t, func(t *testing.T, nodes severaltest.Servers) {
		b, lines := backendOf(t, nodes, nil)
		defer b.Close()
		again := func(owner string) {
			t.Helper()
			g, err := b.Acquire(t.Context(), driver.Request{Name: "w", Owner: owner, TTL: time.Minute, Tokens: 1})
			if err == nil {
				_, err = b.Release(t.Context(), g)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		again("w:1")
		lines[2].Down()
		g, err := b.Acquire(t.Context(), request("a:1", 30*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		pass(5 * time.Second)
		lines[2].Up()
		for _, owner := range []string{"w:2", "w:3", "w:4"} { // the third node is back
			again(owner)
			pass(time.Second)
		}
		for _, l := range lines[:2] {
			l.Fail(bedrocktest.Acquire, bedrocktest.Fault{Delay: 8 * time.Millisecond})
		}
		again("w:5")
		pass(20 * time.Millisecond)
		if err := b.Renew(t.Context(), []driver.Grant{g})[0]; err != nil {
			t.Errorf("nodes 1 and 2 have it, and answer: %v", err)
		}
	})
}
