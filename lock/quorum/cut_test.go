package quorum_test

import (
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/internal/several/severaltest"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/quorum"
)

// awaitRenewal lets time pass until a node is asked for a renewal, and looks that often.
func awaitRenewal(line *bedrocktest.Backend, often time.Duration) {
	for line.Calls(bedrocktest.Renew) == 0 {
		pass(often)
	}
}

// TestLateRenewalUndoesACut: a renewal comes to two nodes after the lock was unlocked, which ends it with its minimum
// hold time. Without those two nobody can have it.
func TestLateRenewalUndoesACut(t *testing.T) {
	five(t, func(t *testing.T, nodes severaltest.Servers) {
		opts := &quorum.Options{Surplus: 1}
		a, b := join(t, nodes, opts), join(t, nodes, opts)
		lease := mustKeep(t, a, "a", time.Minute, 40*time.Second)
		taken := time.Now()
		for _, l := range a.lines[3:] {
			l.Fail(bedrocktest.Renew, bedrocktest.Fault{Delay: 300 * time.Millisecond})
		}
		awaitRenewal(a.lines[3], 10*time.Millisecond)
		pass(50 * time.Millisecond)
		mustUnlock(t, lease)
		pass(time.Until(taken.Add(41 * time.Second)))
		wantFreeNow(t, b, "a", "a second after the minimum hold time")
		pass(time.Minute)
	})
}

// TestLateAnswerMakesACutLockWhole: two nodes forget the lock, and a third one answers a renewal after the cut. The
// votes that are missing are asked for a whole TTL.
func TestLateAnswerMakesACutLockWhole(t *testing.T) {
	five(t, func(t *testing.T, nodes severaltest.Servers) {
		a := join(t, nodes, &quorum.Options{Quarantine: -1})
		lease := mustKeep(t, a, "a", time.Hour, 40*time.Minute)
		taken := time.Now()
		a.lines[4].Fail(bedrocktest.Renew,
			bedrocktest.Fault{Linger: 2 * time.Second}, bedrocktest.Fault{Linger: 4 * time.Second})
		awaitRenewal(a.lines[3], time.Second)
		nodes[0].Restart()
		nodes[1].Restart()
		mustUnlock(t, lease)
		wantNothingLeft(t, nodes, time.Until(taken.Add(41*time.Minute)))
	})
}

// TestCutOvertakesTheAnswersToARenewal of two nodes, while another one has forgotten the grant.
func TestCutOvertakesTheAnswersToARenewal(t *testing.T) {
	five(t, func(t *testing.T, nodes severaltest.Servers) {
		lines, backends := nodes.Connect()
		b, err := quorum.NewBackend(backends, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		g, err := b.Acquire(t.Context(), driver.Request{Name: "a", Owner: "o:1", TTL: time.Hour, Tokens: 1})
		if err != nil {
			t.Fatal(err)
		}
		pass(time.Second)
		for _, l := range lines[3:] {
			l.Fail(bedrocktest.Renew, bedrocktest.Fault{Linger: 300 * time.Millisecond})
		}
		if err := b.Renew(t.Context(), []driver.Grant{g})[0]; err != nil {
			t.Errorf("renewed at three nodes of five: %v", err)
		}
		nodes[2].Restart()
		g.TTL = 10 * time.Second
		if err := b.Renew(t.Context(), []driver.Grant{g})[0]; err != nil {
			t.Errorf("cut at four nodes of five: %v", err)
		}
		wantNothingLeft(t, nodes, 11*time.Second)
	})
}

// TestCutMissesNodes: two cannot be reached for a moment when a lock is unlocked that is kept for its minimum hold
// time. Without them nobody can have it.
func TestCutMissesNodes(t *testing.T) {
	five(t, func(t *testing.T, nodes severaltest.Servers) {
		opts := &quorum.Options{Surplus: 1}
		a, b := join(t, nodes, opts), join(t, nodes, opts)
		lease := mustKeep(t, a, "a", time.Hour, 4*time.Second)
		pass(2 * time.Second)
		for _, l := range a.lines[3:] {
			l.Fail(bedrocktest.Renew, bedrocktest.Fault{Before: driver.ErrUnavailable})
		}
		mustUnlock(t, lease)
		pass(3 * time.Second)
		wantFreeNow(t, b, "a", "a second after the minimum hold time")
	})
}
