package quorum_test

import (
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/internal/several/severaltest"
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
