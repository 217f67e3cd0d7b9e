package combination_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/internal/several/severaltest"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// anonymous does not tell who has a lock.
type anonymous struct{ *bedrocktest.Backend }

// Acquire implements [driver.Backend].
func (n *anonymous) Acquire(ctx context.Context, req driver.Request) (driver.Grant, error) {
	g, err := n.Backend.Acquire(ctx, req)
	if held, ok := errors.AsType[*driver.HeldError](err); ok {
		err = &driver.HeldError{TTL: held.TTL}
	}
	return g, err
}

// holdWithoutTheFirst returns a lease that lacks the first node, which is back, of a client whom no node tells who has
// a lock.
func holdWithoutTheFirst(t *testing.T, nodes severaltest.Servers) *lock.Lease {
	t.Helper()
	lines, backends := nodes.Connect()
	for i := range backends {
		backends[i] = &anonymous{lines[i]}
	}
	a := memberOf(t, lines, backends, nil)
	pass(time.Hour)
	mustUnlock(t, mustLock(t, a, "warm up"))
	a.down(1)
	lease := mustLock(t, a, "a")
	a.up(1)
	return lease
}

// TestGivesWayToWhoPassesBy: somebody has the first node for 20 ms, and nobody says who.
func TestGivesWayToWhoPassesBy(t *testing.T) {
	three(t, func(t *testing.T, nodes severaltest.Servers) {
		lease := holdWithoutTheFirst(t, nodes)
		g, err := nodes[0].Client().Acquire(t.Context(), request("c:1", time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		pass(20 * time.Millisecond)
		if _, err := nodes[0].Client().Release(t.Context(), g); err != nil {
			t.Fatal(err)
		}
		pass(time.Second)
		wantHeld(t, lease, "a second later")
	})
}

// TestGivesWayToWhoIsRefused: somebody tries again and again, has the first node for a moment each time, and is refused
// at the next one. Nobody says who it is.
func TestGivesWayToWhoIsRefused(t *testing.T) {
	three(t, func(t *testing.T, nodes severaltest.Servers) {
		b := join(t, nodes, nil)
		mustUnlock(t, mustLock(t, b, "warm up"))
		lease := holdWithoutTheFirst(t, nodes)
		b.lines[1].Lag(4 * time.Millisecond)
		for range 20 {
			_, err := b.Mutex("a", nil).TryLock(t.Context())
			wantErr(t, err, lock.ErrHeld)
		}
		pass(time.Second)
		wantHeld(t, lease, "a second later")
	})
}

// TestGivesWayToTheDead: somebody has crashed on its way, with the first node alone, which the holder lacks. Whether it
// has crashed nobody knows: the holder is out, and nobody else has the lock before that one's time is over.
func TestGivesWayToTheDead(t *testing.T) {
	three(t, func(t *testing.T, nodes severaltest.Servers) {
		a, b := join(t, nodes, nil), join(t, nodes, nil)
		mustUnlock(t, mustLock(t, a, "warm up"))
		mustUnlock(t, mustLock(t, b, "warm up"))
		a.down(1)
		lease := mustLock(t, a, "a")
		a.up(1)
		if _, err := nodes[0].Client().Acquire(t.Context(), request("dead:1", 45*time.Second)); err != nil {
			t.Fatal(err)
		}
		crashed := time.Now()
		<-lease.Context().Done()
		wantWithin(t, "the holder is out", crashed, 25*time.Second)
		wantErr(t, lease.Err(), lock.ErrLost, "it is held by "+driver.PublicOwner("dead:1"))
		next := mustLock(t, b, "a")
		if took := time.Since(crashed); took < 45*time.Second {
			t.Errorf("the next one had it after %s, and somebody else has the first node for 45s", took)
		}
		wantWithin(t, "the next one has it", crashed, 46*time.Second)
		mustUnlock(t, next)
		wantNothingLeft(t, nodes, time.Second)
	})
}
