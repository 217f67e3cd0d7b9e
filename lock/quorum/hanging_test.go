package quorum_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/internal/several/severaltest"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/quorum"
)

// TestMissingVotesAreForgottenWhileANodeHangs: one node of five does not answer. The others forget the lock one after
// the other, a minute apart, and are asked again meanwhile.
func TestMissingVotesAreForgottenWhileANodeHangs(t *testing.T) {
	for name, silence := range map[string]func(*bedrocktest.Backend){
		"down": (*bedrocktest.Backend).Down, "frozen": (*bedrocktest.Backend).Freeze,
	} {
		t.Run(name, func(t *testing.T) {
			five(t, func(t *testing.T, nodes severaltest.Servers) {
				a := join(t, nodes, &quorum.Options{Lock: lock.Options{TTL: 5 * time.Second}})
				defer a.up(5)
				defer a.lines[4].Thaw()
				mustUnlock(t, mustLock(t, a, "other"))
				lease := mustLock(t, a, "a")
				pass(3 * time.Second)
				silence(a.lines[4])
				pass(10 * time.Second)
				for _, n := range nodes[:3] {
					n.Restart()
					pass(time.Minute)
				}
				wantHeld(t, lease, "one node at a time has forgotten it")
			})
		})
	}
}

// hole is a node behind a net that drops requests for locks for a while.
type hole struct {
	*bedrocktest.Backend
	drops *atomic.Bool
}

// Acquire implements [driver.Backend].
func (h *hole) Acquire(ctx context.Context, req driver.Request) (driver.Grant, error) {
	if h.drops.Load() {
		<-ctx.Done()
		return driver.Grant{}, ctx.Err()
	}
	return h.Backend.Acquire(ctx, req)
}

// TestLostProbesKeepNodesOut: three nodes of five are cut off for three seconds. What was asked to find out whether
// they are back hangs, and whoever asks next waits for that.
func TestLostProbesKeepNodesOut(t *testing.T) {
	five(t, func(t *testing.T, nodes severaltest.Servers) {
		lines, backends := nodes.Connect()
		var drops atomic.Bool
		for i := range backends[:3] {
			backends[i] = &hole{lines[i], &drops}
		}
		m := memberOf(t, lines, backends, nil)
		mustUnlock(t, mustLock(t, m, "x"))
		tryFor := func(name string, most time.Duration) (*lock.Lease, error) {
			ctx, cancel := context.WithTimeout(t.Context(), most)
			defer cancel()
			return m.Mutex(name, nil).Lock(ctx)
		}
		drops.Store(true)
		for range 6 {
			if _, err := tryFor("a", 500*time.Millisecond); err == nil {
				t.Fatal("two nodes of five have granted a lock")
			}
		}
		pass(100 * time.Millisecond)
		drops.Store(false)
		back := time.Now()
		lease, err := tryFor("b", 500*time.Millisecond)
		for ; err != nil; lease, err = tryFor("b", 500*time.Millisecond) {
			if time.Since(back) > time.Minute {
				t.Fatal(err)
			}
		}
		wantWithin(t, "a lock after all nodes were back", back, time.Second)
		mustUnlock(t, lease)
	})
}

// TestRefusalWaitsForAReleaseThatHangs: a vote of a request that was refused is given back to a node that hangs.
func TestRefusalWaitsForAReleaseThatHangs(t *testing.T) {
	five(t, func(t *testing.T, nodes severaltest.Servers) {
		a, b := join(t, nodes, nil), join(t, nodes, nil)
		mustUnlock(t, mustLock(t, b, "warm up"))
		a.down(4, 5)
		mustLock(t, a, "a")
		b.lines[3].Fail(bedrocktest.Release, bedrocktest.Fault{Delay: 20 * time.Second})
		began := time.Now()
		_, err := b.Mutex("a", nil).TryLock(t.Context())
		wantWithin(t, "refusal", began, time.Second)
		wantErr(t, err, lock.ErrHeld)
		a.up(4, 5)
	})
}

// TestUnlockWaitsForNodesThatHang: two of five do.
func TestUnlockWaitsForNodesThatHang(t *testing.T) {
	five(t, func(t *testing.T, nodes severaltest.Servers) {
		long := &quorum.Options{Lock: lock.Options{TTL: time.Hour}}
		a, b := join(t, nodes, long), join(t, nodes, long)
		mustUnlock(t, mustLock(t, b, "warm up"))
		lease := mustLock(t, a, "a")
		pass(time.Second)
		for _, m := range []*member{a, b} {
			m.lines[0].Freeze()
			m.lines[1].Freeze()
			defer m.lines[0].Thaw()
			defer m.lines[1].Thaw()
		}
		began := time.Now()
		mustUnlock(t, lease)
		wantWithin(t, "unlock", began, 100*time.Millisecond)
		mustLock(t, b, "a")
		wantWithin(t, "the next one has it", began, time.Second)
	})
}
