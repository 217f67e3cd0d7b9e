package combination_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/internal/several/severaltest"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/combination"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// hitch is what goes wrong at a node that is taken.
type hitch struct {
	name string
	plan func(line *bedrocktest.Backend)
}

func hitches() []hitch {
	lost := bedrocktest.ErrReplyLost
	fail := func(name string, m bedrocktest.Method, faults ...bedrocktest.Fault) hitch {
		return hitch{name, func(line *bedrocktest.Backend) { line.Fail(m, faults...) }}
	}
	release := bedrocktest.Release
	return []hitch{
		{"nothing", func(*bedrocktest.Backend) {}},
		fail("it comes late", bedrocktest.Acquire, bedrocktest.Fault{Delay: 30 * time.Millisecond}),
		fail("a packet is sent once more", bedrocktest.Acquire, bedrocktest.Fault{Delay: 300 * time.Millisecond}),
		fail("its answer comes late", bedrocktest.Acquire, bedrocktest.Fault{Linger: 300 * time.Millisecond}),
		fail("its answer is lost", bedrocktest.Acquire, bedrocktest.Fault{After: lost}),
		fail("it cannot be reached to give back", release, bedrocktest.Fault{Before: driver.ErrUnavailable},
			bedrocktest.Fault{Before: lost}, bedrocktest.Fault{Before: driver.ErrUnavailable}),
		fail("the answer to the release is lost", release, bedrocktest.Fault{After: lost}),
		fail("the release comes late", release, bedrocktest.Fault{Delay: time.Second}),
		{"both answers are lost", func(line *bedrocktest.Backend) {
			line.LoseReply(bedrocktest.Acquire)
			line.LoseReply(release)
		}},
		{"it hangs for long", func(line *bedrocktest.Backend) {
			line.Freeze()
			time.AfterFunc(20*time.Second, line.Thaw)
		}},
	}
}

// TestFailedRequestLeavesANode that it has taken, whatever goes wrong there. Somebody else has the third one.
func TestFailedRequestLeavesANode(t *testing.T) {
	for _, h := range hitches() {
		for at := range 2 {
			t.Run(fmt.Sprintf("%s/node %d", h.name, at+1), func(t *testing.T) {
				three(t, func(t *testing.T, nodes severaltest.Servers) {
					a := joinWithOne(t, nodes)
					b := join(t, nodes, &combination.Options{Retry: time.Second, Lock: lock.Options{TTL: time.Hour}})
					mustUnlock(t, mustLock(t, b, "warm up"))
					a.down(1, 2)
					lease := mustLock(t, a, "a")
					h.plan(b.lines[at])
					_, err := b.Mutex("a", nil).TryLock(t.Context())
					wantErr(t, err, lock.ErrHeld)
					mustUnlock(t, lease)
					a.up(1, 2)
					wantNothingLeft(t, nodes, 40*time.Second)
					mustUnlock(t, mustLock(t, b, "a"))
					wantNothingLeft(t, nodes, time.Second)
				})
			})
		}
	}
}

// TestCancelledRequestLeavesANode: the caller leaves on the way.
func TestCancelledRequestLeavesANode(t *testing.T) {
	for _, h := range hitches() {
		for _, after := range []time.Duration{1, 5 * time.Millisecond, 7 * time.Millisecond, time.Second} {
			t.Run(fmt.Sprintf("%s/after %s", h.name, after), func(t *testing.T) {
				three(t, func(t *testing.T, nodes severaltest.Servers) {
					b := join(t, nodes, &combination.Options{Retry: time.Second, Lock: lock.Options{TTL: time.Hour}})
					mustUnlock(t, mustLock(t, b, "warm up"))
					for _, line := range b.lines {
						line.Lag(3 * time.Millisecond)
					}
					h.plan(b.lines[1])
					ctx, cancel := context.WithTimeout(t.Context(), after)
					defer cancel()
					if lease, err := b.Mutex("a", nil).Lock(ctx); err == nil {
						_ = lease.Unlock(context.Background()) // its answer may be lost
					}
					wantNothingLeft(t, nodes, 40*time.Second)
				})
			})
		}
	}
}

// TestHiccupBeforeUnlockKeepsOthersOut: the first node did not answer in time once, and is taken for gone when the lock
// is unlocked.
func TestHiccupBeforeUnlockKeepsOthersOut(t *testing.T) {
	three(t, func(t *testing.T, nodes severaltest.Servers) {
		long := &combination.Options{Lock: lock.Options{TTL: time.Hour}}
		a, b := join(t, nodes, long), join(t, nodes, long)
		mustUnlock(t, mustLock(t, b, "warm up"))
		lease := mustLock(t, a, "a")
		pass(time.Second)
		a.lines[0].Fail(bedrocktest.Acquire, bedrocktest.Fault{Delay: 8 * time.Millisecond})
		other := mustLock(t, a, "other")
		mustUnlock(t, lease)
		wantFreeNow(t, b, "a", "after Unlock")
		mustUnlock(t, other)
		wantNothingLeft(t, nodes, 10*time.Second)
	})
}
