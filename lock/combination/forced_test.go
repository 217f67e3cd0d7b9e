package combination_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/internal/several/severaltest"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// TestForcedReleaseMissesANode that is there: it says so. The holder is out all the same, for the others tell it; and
// once more, when the node is back, frees the rest, which the holder cannot reach.
func TestForcedReleaseMissesANode(t *testing.T) {
	three(t, func(t *testing.T, nodes severaltest.Servers) {
		a, b := join(t, nodes, nil), join(t, nodes, nil)
		mustUnlock(t, mustLock(t, b, "warm up"))
		lease := mustLock(t, a, "a")
		b.lines[0].Fail(bedrocktest.ForceRelease, bedrocktest.Fault{Before: driver.ErrUnavailable})
		a.down(1)
		_, err := b.ForceRelease(t.Context(), "a")
		wantErr(t, err, driver.ErrUnavailable, "node 1")
		pass(time.Second)
		if lease.Context().Err() == nil {
			t.Errorf("a second later the lease is %s, on %+v", lease.State(), lease.Spread())
		}
		wantEqual(t, "somebody has node 1", nodes[0].Holders()["a"] != "", true)
		if was, err := b.ForceRelease(t.Context(), "a"); !was || err != nil {
			t.Errorf("once more: %t, %v", was, err)
		}
		wantFreeNow(t, b, "a", "after a second forced release")
		a.up(1)
	})
}

// hesitant takes long to say who it is, as over a connection that has to be opened.
type hesitant struct {
	*bedrocktest.Backend

	pause time.Duration
}

// Identity implements [driver.Identifier].
func (h *hesitant) Identity(ctx context.Context) (string, error) {
	select {
	case <-time.After(h.pause):
		return h.Backend.Identity(ctx)
	case <-ctx.Done():
		return "", fmt.Errorf("%w: %w", driver.ErrUnavailable, ctx.Err())
	}
}

// newcomer is a client that has asked no node before, the last of which hesitates. All have the lock of a holder that
// has gone, and gives back nothing.
func newcomer(t *testing.T, nodes severaltest.Servers, pause time.Duration) *member {
	t.Helper()
	for i := range nodes {
		if _, err := nodes[i].Client().Acquire(t.Context(), request("gone:1", time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	lines, backends := nodes.Connect()
	backends[2] = &hesitant{lines[2], pause}
	return memberOf(t, lines, backends, nil)
}

// TestForcedReleaseOfANewClient: a node that is slow is waited for, and not left out.
func TestForcedReleaseOfANewClient(t *testing.T) {
	three(t, func(t *testing.T, nodes severaltest.Servers) {
		m := newcomer(t, nodes, 300*time.Millisecond)
		if was, err := m.ForceRelease(t.Context(), "a"); !was || err != nil {
			t.Errorf("force: %t, %v", was, err)
		}
		wantFreeNow(t, join(t, nodes, nil), "a", "after it was freed by force")
	})
}

// TestForcedReleaseHasLittleTime, 900 ms, and one node never says who it is: there is time left for the others.
func TestForcedReleaseHasLittleTime(t *testing.T) {
	three(t, func(t *testing.T, nodes severaltest.Servers) {
		m := newcomer(t, nodes, time.Hour)
		m.lines[2].Freeze()
		ctx, cancel := context.WithTimeout(t.Context(), 900*time.Millisecond)
		defer cancel()
		if was, err := m.ForceRelease(ctx, "a"); !was || err != nil {
			t.Errorf("force: %t, %v", was, err)
		}
		wantEqual(t, "holders at the first two", len(nodes[0].Holders())+len(nodes[1].Holders()), 0)
	})
}

// TestForcedReleaseIsForgottenByTheGrant: all nodes have given their votes when they are taken away, which is told, and
// the answer of one comes after that.
func TestForcedReleaseIsForgottenByTheGrant(t *testing.T) {
	three(t, func(t *testing.T, nodes severaltest.Servers) {
		a, b := join(t, nodes, nil), join(t, nodes, nil)
		mustUnlock(t, mustLock(t, a, "warm up"))
		mustUnlock(t, mustLock(t, b, "warm up"))
		a.lines[2].Fail(bedrocktest.Acquire, bedrocktest.Fault{Linger: 3 * time.Millisecond})
		go func() {
			pass(time.Millisecond)
			if was, err := b.ForceRelease(t.Context(), "a"); !was || err != nil {
				t.Errorf("force: %t, %v", was, err)
			}
		}()
		victim := mustLock(t, a, "a") // once more: what it was given first is gone
		_, err := b.Mutex("a", nil).TryLock(t.Context())
		wantErr(t, err, lock.ErrHeld)
		mustUnlock(t, victim)
	})
}

// parting tells of grants that end with their connection.
type parting struct {
	*bedrocktest.Backend

	tell func(driver.Message)
}

// Notify implements [driver.Notifier].
func (p *parting) Notify(tell func(driver.Message)) { p.tell = tell }

// TestGrantThatEndsIsTakenByForce: nobody has forced anything, and a node says what has happened.
func TestGrantThatEndsIsTakenByForce(t *testing.T) {
	three(t, func(t *testing.T, nodes severaltest.Servers) {
		lines, backends := nodes.Connect()
		first := &parting{Backend: lines[0]}
		backends[0] = first
		a := memberOf(t, lines, backends, nil)
		lease := mustLock(t, a, "a")
		errEnded := errors.New("its connection has ended")
		first.tell(driver.Message{Name: "a", Owner: lease.Owner(), Kind: driver.Taken, Why: errEnded})
		<-lease.Context().Done()
		wantErr(t, lease.Err(), errEnded)
	})
}
