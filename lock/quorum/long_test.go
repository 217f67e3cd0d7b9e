//go:build !race

// What is shown here takes hours of virtual time: the race detector makes that some ten times as slow, and what runs is
// raced by all other tests.

package quorum_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/several/severaltest"
	"github.com/bedrock-go/bedrock/lock"
)

// TestAnythingGoesWrongBeforeADeadline is the same with contexts that say when they end.
func TestAnythingGoesWrongBeforeADeadline(t *testing.T) { hunt(t, true) }

// TestForgottenGrantIsBelievedIn: one of the nodes that keep others out starts anew, at any time. Whoever waits has
// the lock when the former holder knows that it has not, and that is by its time at the latest.
func TestForgottenGrantIsBelievedIn(t *testing.T) {
	for _, after := range []time.Duration{0, time.Second, 14 * time.Second, 16 * time.Second, 29 * time.Second} {
		for forgets := 1; forgets <= 3; forgets++ {
			t.Run(fmt.Sprintf("node %d after %s", forgets, after), func(t *testing.T) {
				five(t, func(t *testing.T, nodes severaltest.Servers) { believe(t, nodes, forgets, after) })
			})
		}
	}
}

func believe(t *testing.T, nodes severaltest.Servers, forgets int, after time.Duration) {
	a, b := join(t, nodes, nil), join(t, nodes, nil)
	a.down(4, 5)
	lease := mustLock(t, a, "a")
	wantEqual(t, "spread", lease.Spread(), lock.Spread{Held: 3, Stores: 5})
	lost := make(chan time.Time, 1)
	context.AfterFunc(lease.Context(), func() { lost <- time.Now() })
	pass(after)
	nodes[forgets-1].Restart()
	forgotten := time.Now()
	next := take(t, b, "a", lease)
	end := <-lost
	wantErr(t, context.Cause(lease.Context()), lock.ErrLost)
	wantErr(t, lease.Unlock(t.Context()), lock.ErrLost)
	if late := end.Sub(forgotten); late > 30*time.Second {
		t.Errorf("the loss was noticed after %s", late)
	}
	if next.Token() <= lease.Token() {
		t.Errorf("token %d after %d", next.Token(), lease.Token())
	}
	mustUnlock(t, next)
	wantNothingLeft(t, nodes, time.Minute)
}
