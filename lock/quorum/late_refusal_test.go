package quorum_test

import (
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/internal/several/severaltest"
	"github.com/bedrock-go/bedrock/lock"
)

// TestLateRefusalIsNoOutage: two nodes do not answer, and one of the three that do is slower than the others. It is
// held, and not out of order.
func TestLateRefusalIsNoOutage(t *testing.T) {
	five(t, func(t *testing.T, nodes severaltest.Servers) {
		a, b := join(t, nodes, nil), join(t, nodes, nil)
		for _, m := range []*member{a, b} {
			mustUnlock(t, mustLock(t, m, "warm up"))
			m.down(1, 2)
		}
		lease := mustLock(t, a, "a")
		b.lines[4].Fail(bedrocktest.Acquire, bedrocktest.Fault{Delay: 50 * time.Millisecond})
		_, err := b.Mutex("a", nil).TryLock(t.Context())
		wantErr(t, err, lock.ErrHeld)
		mustUnlock(t, lease)
	})
}
