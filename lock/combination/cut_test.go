package combination_test

import (
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/internal/several/severaltest"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// TestCutMissesANode: it cannot be reached for a moment when a lock is unlocked that is kept for its minimum hold time.
func TestCutMissesANode(t *testing.T) {
	three(t, func(t *testing.T, nodes severaltest.Servers) {
		a, b := join(t, nodes, nil), join(t, nodes, nil)
		mustUnlock(t, mustLock(t, b, "warm up"))
		lease := mustKeep(t, a, "a", time.Hour, 4*time.Second)
		pass(2 * time.Second)
		a.lines[0].Fail(bedrocktest.Renew, bedrocktest.Fault{Before: driver.ErrUnavailable})
		mustUnlock(t, lease)
		pass(3 * time.Second)
		wantFreeNow(t, b, "a", "a second after the minimum hold time")
	})
}

// TestLateRenewalUndoesACut: a renewal comes to a node after the lock was unlocked, which ends it with its minimum hold
// time.
func TestLateRenewalUndoesACut(t *testing.T) {
	three(t, func(t *testing.T, nodes severaltest.Servers) {
		a, b := join(t, nodes, nil), join(t, nodes, nil)
		mustUnlock(t, mustLock(t, b, "warm up"))
		lease := mustKeep(t, a, "a", time.Minute, 40*time.Second)
		taken := time.Now()
		a.lines[0].Fail(bedrocktest.Renew, bedrocktest.Fault{Delay: 300 * time.Millisecond})
		for a.lines[0].Calls(bedrocktest.Renew) == 0 {
			pass(10 * time.Millisecond)
		}
		pass(50 * time.Millisecond)
		mustUnlock(t, lease)
		pass(time.Until(taken.Add(41 * time.Second)))
		wantFreeNow(t, b, "a", "a second after the minimum hold time")
		pass(time.Minute)
	})
}
