package quorum_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/internal/several/severaltest"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/quorum"
)

// TestGrantWithoutItsSurplus has fewer votes than was asked for, and some more than a majority.
func TestGrantWithoutItsSurplus(t *testing.T) {
	five(t, func(t *testing.T, nodes severaltest.Servers) {
		locks := join(t, nodes, &quorum.Options{Surplus: 1, Lock: lock.Options{Patience: -1}})
		locks.down(4, 5)
		_, err := locks.Mutex("a", nil).Lock(t.Context())
		wantErr(t, err, quorum.ErrNoQuorum,
			"3 of 5 nodes have granted it, 4 are needed", "node 4: unavailable", "node 5: unavailable")
		wantErr(t, err, driver.ErrUnavailable)
		wantNothingLeft(t, nodes, time.Second)
		locks.up(5)
		lease := mustLock(t, locks, "a")
		if got, least := lease.Spread(), (lock.Spread{Held: 4, Stores: 5, Surplus: 1}); got != least {
			t.Errorf("without node 4: %+v, want %+v", got, least)
		}
		mustUnlock(t, lease)
	})
}

// TestSurplusIsNotToldOf: how many may forget a grant depends on what keeps others out, not on what was needed.
func TestSurplusIsNotToldOf(t *testing.T) {
	for _, tt := range []struct {
		opts quorum.Options
		down []int
		want lock.Spread
	}{
		{quorum.Options{}, nil, lock.Spread{Held: 5, Stores: 5, Surplus: 2}},
		{quorum.Options{}, []int{2}, lock.Spread{Held: 4, Stores: 5, Surplus: 1}},
		{quorum.Options{}, []int{1, 5}, lock.Spread{Held: 3, Stores: 5, Surplus: 0}},
		{quorum.Options{Majority: 4}, []int{3}, lock.Spread{Held: 4, Stores: 5, Surplus: 2}},
		{quorum.Options{Surplus: 2}, nil, lock.Spread{Held: 5, Stores: 5, Surplus: 2}},
	} {
		five(t, func(t *testing.T, nodes severaltest.Servers) {
			locks := join(t, nodes, &tt.opts)
			locks.down(tt.down...)
			lease := mustLock(t, locks, "a")
			pass(3 * time.Second) // the last of those that are up have voted by then
			wantEqual(t, fmt.Sprintf("spread with %+v, nodes %v down", tt.opts, tt.down), lease.Spread(), tt.want)
			mustUnlock(t, lease)
			wantNothingLeft(t, nodes, time.Millisecond)
		})
	}
}

// TestMissingVotesAreForgotten: they are asked for soon after the grant, and later with each renewal.
func TestMissingVotesAreForgotten(t *testing.T) {
	five(t, func(t *testing.T, nodes severaltest.Servers) {
		locks := join(t, nodes, nil)
		locks.down(2, 4)
		lease := mustLock(t, locks, "a")
		pass(20 * time.Millisecond)
		wantEqual(t, "at first", lease.Spread(), lock.Spread{Held: 3, Stores: 5})
		locks.up(2)
		pass(time.Second)
		wantEqual(t, "a second after node 2 is back", lease.Spread(), lock.Spread{Held: 4, Stores: 5, Surplus: 1})
		pass(5 * time.Second)
		locks.up(4)
		pass(10 * time.Second) // the lease of 30 s is renewed meanwhile
		wantEqual(t, "after a renewal with node 4", lease.Spread(), lock.Spread{Held: 5, Stores: 5, Surplus: 2})
		nodes[0].Restart()
		pass(15 * time.Second)
		wantEqual(t, "after a renewal with a new node 1", lease.Spread(), lock.Spread{Held: 5, Stores: 5, Surplus: 2})
		for i, n := range nodes {
			if n.Newest("a") < lease.Token() {
				t.Errorf("node %d has given out token %d, the lease has %d", i+1, n.Newest("a"), lease.Token())
			}
		}
		mustUnlock(t, lease)
		wantNothingLeft(t, nodes, time.Millisecond)
	})
}

// TestSlowNodeIsNotCounted: a vote that comes after the grant is one.
func TestSlowNodeIsNotCounted(t *testing.T) {
	five(t, func(t *testing.T, nodes severaltest.Servers) {
		locks := join(t, nodes, nil)
		mustUnlock(t, mustLock(t, locks, "a"))
		pass(time.Second)
		for _, line := range locks.lines[:2] {
			line.Fail(bedrocktest.Acquire, bedrocktest.Fault{Linger: 100 * time.Millisecond})
		}
		lease := mustLock(t, locks, "a")
		wantEqual(t, "at first", lease.Spread().Held, 3)
		pass(150 * time.Millisecond)
		wantEqual(t, "later", lease.Spread().Held, 5)
		mustUnlock(t, lease)
		wantNothingLeft(t, nodes, time.Second)
	})
}

// take asks for a lock again and again until it is granted, and checks that nobody else believes to have it then.
func take(t *testing.T, locks *member, name string, held *lock.Lease) *lock.Lease {
	t.Helper()
	for ctx := t.Context(); ; pass(10 * time.Millisecond) {
		lease, err := locks.Mutex(name, nil).TryLock(ctx)
		if err == nil {
			if held.Context().Err() == nil {
				t.Error("two have the lock")
			}
			return lease
		}
		if !errors.Is(err, lock.ErrHeld) && !errors.Is(err, quorum.ErrNoQuorum) {
			t.Fatalf("while the lock is held: %v", err)
		}
	}
}

// TestNodesThatForgetAreBelieved is why quarantine is there: without, two have the lock.
func TestNodesThatForgetAreBelieved(t *testing.T) {
	five(t, func(t *testing.T, nodes severaltest.Servers) {
		a, b := join(t, nodes, nil), join(t, nodes, &quorum.Options{Quarantine: -1})
		a.down(4, 5)
		lease := mustLock(t, a, "a")
		nodes[0].Restart()
		next, err := b.Mutex("a", nil).TryLock(t.Context())
		if err != nil || lease.Err() != nil {
			t.Fatalf("the test proves nothing: %v, %v", err, lease.Err())
		}
		if next.Token() <= lease.Token() {
			t.Errorf("token %d after %d", next.Token(), lease.Token())
		}
		mustUnlock(t, next)
	})
}

// TestLateVoteOutlivesALockThatWasCut: it is unlocked before its least time is over, while the vote of a node is on its
// way, or missing. Nobody tells who waits when that time is over, so each node has to know.
func TestLateVoteOutlivesALockThatWasCut(t *testing.T) {
	for name, fault := range map[string]bedrocktest.Fault{
		"on its way": {Delay: 30 * time.Millisecond}, "on its way back": {Linger: 30 * time.Millisecond},
		"missing": {Before: driver.ErrUnavailable},
	} {
		for node := range 5 {
			t.Run(fmt.Sprintf("%s, node %d", name, node+1), func(t *testing.T) {
				five(t, func(t *testing.T, nodes severaltest.Servers) {
					a, b := join(t, nodes, &quorum.Options{Lock: lock.Options{TTL: time.Hour}}), join(t, nodes, nil)
					mustUnlock(t, mustLock(t, a, "warm up"))
					pass(time.Second)
					a.lines[node].Fail(bedrocktest.Acquire, fault)
					began := time.Now()
					lease, err := a.Mutex("a", &lock.MutexOptions{MinHold: 2 * time.Second}).Lock(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					pass(time.Millisecond)
					mustUnlock(t, lease)
					pass(time.Second)
					mustUnlock(t, mustLock(t, b, "a"))
					if took := time.Since(began); took < 2*time.Second || took > 2200*time.Millisecond {
						t.Errorf("the next one had it after %s", took)
					}
					wantNothingLeft(t, nodes, time.Second)
				})
			})
		}
	}
}
