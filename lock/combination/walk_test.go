package combination_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/internal/several/severaltest"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/combination"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// steps are the calls of nodes in their order.
type steps struct {
	mu  sync.Mutex
	all []string
}

// follow takes note of the next calls of a client.
func (s *steps) follow(m *member, methods ...bedrocktest.Method) {
	for i, line := range m.lines {
		for _, method := range methods {
			hit := bedrocktest.Fault{Hit: func() {
				s.mu.Lock()
				defer s.mu.Unlock()
				s.all = append(s.all, fmt.Sprint(method, " ", i+1))
			}}
			line.Fail(method, slices.Repeat([]bedrocktest.Fault{hit}, 10)...)
		}
	}
}

func (s *steps) want(t *testing.T, want ...string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(s.all, want) {
		t.Errorf("the nodes were asked %q, want %q", s.all, want)
	}
	s.all = nil
}

// vote is what somebody has left at a node who has crashed.
func vote(t *testing.T, node *severaltest.Server, name string) {
	t.Helper()
	req := driver.Request{Name: name, Owner: "crashed:1", TTL: time.Hour, Tokens: 1}
	if _, err := node.Client().Acquire(t.Context(), req); err != nil {
		t.Fatal(err)
	}
}

// TestNodesAreAskedInAnotherOrder: one at a time from left to right, and given back at the first when all
// others are free.
func TestNodesAreAskedInAnotherOrder(t *testing.T) {
	three(t, func(t *testing.T, nodes severaltest.Servers) {
		locks := join(t, nodes, nil)
		mustUnlock(t, mustLock(t, locks, "other"))
		var order steps
		order.follow(locks, bedrocktest.Acquire, bedrocktest.Release)
		for _, line := range locks.lines {
			line.Lag(3 * time.Millisecond)
		}
		locks.lines[2].Lag(4 * time.Millisecond)
		began := time.Now()
		lease := mustLock(t, locks, "a")
		wantEqual(t, "time of three answers", time.Since(began), 10*time.Millisecond)
		wantEqual(t, "spread", lease.Spread(), lock.Spread{Held: 3, Stores: 3, Surplus: 2})
		mustUnlock(t, lease)
		wantEqual(t, "and of two more", time.Since(began), 17*time.Millisecond)
		slices.Sort(order.all[3:5]) // at the same time
		order.want(t, "Acquire 1", "Acquire 2", "Acquire 3", "Release 2", "Release 3", "Release 1")
	})
}

// TestRefusedKeepsWhatItHas: somebody is at a later node. What was taken before is given back when the refusal
// is told, from right to left, and the nodes behind it are not asked.
func TestRefusedKeepsWhatItHas(t *testing.T) {
	for at := 1; at <= 3; at++ {
		three(t, func(t *testing.T, nodes severaltest.Servers) {
			vote(t, nodes[at-1], "a")
			locks := join(t, nodes, nil)
			mustUnlock(t, mustLock(t, locks, "other"))
			var order steps
			order.follow(locks, bedrocktest.Acquire, bedrocktest.Release)
			_, err := locks.Mutex("a", nil).TryLock(t.Context())
			wantErr(t, err, lock.ErrHeld, "crashed:1")
			for i, n := range nodes {
				if i != at-1 && len(n.Holders()) > 0 {
					t.Errorf("refused at node %d, node %d has %v", at, i+1, n.Holders())
				}
			}
			order.want(t, [][]string{
				{"Acquire 1"},
				{"Acquire 1", "Acquire 2", "Release 1"},
				{"Acquire 1", "Acquire 2", "Acquire 3", "Release 2", "Release 1"},
			}[at-1]...)
			pass(time.Minute)
			order.want(t)
		})
	}
}

// TestSlowNodeIsAskedAgainAndAgain although it is known not to answer. It is looked at again after a while, and used
// when it has answered.
func TestSlowNodeIsAskedAgainAndAgain(t *testing.T) {
	three(t, func(t *testing.T, nodes severaltest.Servers) {
		locks := join(t, nodes, &combination.Options{Lock: lock.Options{TTL: time.Minute}})
		mustUnlock(t, mustLock(t, locks, "warm up"))
		line := locks.lines[1]
		line.Freeze()
		defer line.Thaw()
		began := time.Now()
		takeAndGiveBack(t, locks, "a", 2)
		wantBetween(t, "the first lock", time.Since(began), 4*time.Millisecond, 6*time.Millisecond)
		pass(5 * time.Minute) // what the first one may have there has run out
		calls := line.AllCalls()
		for i := range 100 {
			began = time.Now()
			takeAndGiveBack(t, locks, fmt.Sprint("b", i), 2)
			wantEqual(t, "a lock without it took", time.Since(began), 0)
		}
		wantEqual(t, "calls of the node that was left out", line.AllCalls(), calls)
		for range 2 { // it does not answer, and is left out for as long again
			pass(15 * time.Minute)
			for range 10 {
				takeAndGiveBack(t, locks, "c", 2)
				pass(time.Minute)
			}
			calls++
			wantEqual(t, "calls of the node, one to look at it", line.AllCalls(), calls)
		}
		line.Thaw()
		pass(4 * time.Minute)
		takeAndGiveBack(t, locks, "d", 2)
		pass(time.Minute + time.Second)
		takeAndGiveBack(t, locks, "d", 2) // it is asked who it is meanwhile
		pass(time.Second)
		takeAndGiveBack(t, locks, "d", 3)
		wantNothingLeft(t, nodes, time.Second)
	})
}

// TestNodeThatIsLateIsBack when it has answered what was asked of it in the background, though it is no quicker
// than it was.
func TestNodeThatIsLateIsBack(t *testing.T) {
	three(t, func(t *testing.T, nodes severaltest.Servers) {
		locks := join(t, nodes, nil)
		mustUnlock(t, mustLock(t, locks, "warm up"))
		locks.lines[1].Lag(20 * time.Millisecond)
		takeAndGiveBack(t, locks, "a", 2)
		pass(10 * time.Second) // it is released there, several times
		calls := locks.lines[1].Calls(bedrocktest.Acquire)
		takeAndGiveBack(t, locks, "b", 2)
		wantEqual(t, "requests to the node that is late", locks.lines[1].Calls(bedrocktest.Acquire), calls)
	})
}

func takeAndGiveBack(t *testing.T, locks *member, name string, nodes int) {
	t.Helper()
	lease := mustLock(t, locks, name)
	wantEqual(t, fmt.Sprintf("nodes of %q", name), lease.Spread().Held, nodes)
	mustUnlock(t, lease)
}

// wantBetween fails the test unless d lies in [least, most].
func wantBetween(t *testing.T, what string, d, least, most time.Duration) {
	t.Helper()
	if d < least || d > most {
		t.Errorf("%s took %s, want %s to %s", what, d, least, most)
	}
}

// TestTooFewNodesAreEnough to begin with.
func TestTooFewNodesAreEnough(t *testing.T) {
	three(t, func(t *testing.T, nodes severaltest.Servers) {
		locks := join(t, nodes, &combination.Options{Retry: time.Second, Lock: lock.Options{Patience: -1}})
		mustUnlock(t, mustLock(t, locks, "warm up"))
		lastWarmth(t, locks)
		for _, lockIt := range []bool{true, false} {
			m := locks.Mutex("b", nil)
			ask := m.TryLock
			if lockIt {
				ask = m.Lock
			}
			_, err := ask(t.Context())
			wantErr(t, err, combination.ErrTooFewNodes,
				`combination: acquire "b": too few nodes: 1 of 3 answer, 2 are needed`)
			wantErr(t, err, driver.ErrUnavailable)
		}
		synctest.Wait() // for those who look whether the nodes are back
		locks.up(3)
		pass(2 * time.Second)
		if lease, err := locks.Mutex("b", nil).TryLock(t.Context()); err == nil { // it looks, and may be told at once
			mustUnlock(t, lease)
		} else {
			wantErr(t, err, combination.ErrTooFewNodes)
		}
		pass(time.Millisecond)
		takeAndGiveBack(t, locks, "b", 2)
		wantNothingLeft(t, nodes, time.Second)
	})
}

// lastWarmth has the last two nodes die under somebody who has begun, and who holds the lock for long on the one
// that is left.
func lastWarmth(t *testing.T, locks *member) {
	t.Helper()
	locks.lines[0].Fail(bedrocktest.Acquire, bedrocktest.Fault{Hit: func() { locks.down(2, 3) }})
	lease := mustLock(t, locks, "a")
	wantEqual(t, "spread", lease.Spread(), lock.Spread{Held: 1, Stores: 3})
	pass(10 * time.Minute)
	wantEqual(t, "state after 10 min", lease.State(), lock.Held)
	mustUnlock(t, lease)
}

// TestAllNodesDieUnderWay: with none left, nobody has anything.
func TestAllNodesDieUnderWay(t *testing.T) {
	three(t, func(t *testing.T, nodes severaltest.Servers) {
		locks := join(t, nodes, &combination.Options{Lock: lock.Options{Patience: -1}})
		locks.down(1, 2, 3)
		_, err := locks.Mutex("a", nil).Lock(t.Context())
		wantErr(t, err, driver.ErrUnavailable)
		wantErr(t, err, combination.ErrTooFewNodes)
		locks.up(1, 2, 3)
		wantNothingLeft(t, nodes, time.Minute)
	})
}

// TestSlowWalkIsGranted after its time.
func TestSlowWalkIsGranted(t *testing.T) {
	three(t, func(t *testing.T, nodes severaltest.Servers) {
		locks := join(t, nodes, &combination.Options{
			NodeTimeout: 50 * time.Millisecond, AcquireTimeout: 60 * time.Millisecond,
			Lock: lock.Options{Patience: -1, TTL: time.Hour},
		})
		mustUnlock(t, mustLock(t, locks, "warm up"))
		for _, line := range locks.lines {
			line.Lag(35 * time.Millisecond)
		}
		lease, err := locks.Mutex("a", nil).Lock(t.Context())
		wantErr(t, err, driver.ErrUnavailable, "it has taken 70ms by now, longer than 60ms")
		if err == nil {
			mustUnlock(t, lease)
		}
		wantNothingLeft(t, nodes, time.Second)
		for _, line := range locks.lines {
			line.Lag(19 * time.Millisecond)
		}
		takeAndGiveBack(t, locks, "a", 3)
	})
}

// TestNodeIsNotRenewed: a lock lives on all nodes, and on those that were started anew.
func TestNodeIsNotRenewed(t *testing.T) {
	three(t, func(t *testing.T, nodes severaltest.Servers) {
		a, b := join(t, nodes, nil), join(t, nodes, nil)
		lease := mustLock(t, a, "a")
		for i := range nodes {
			pass(time.Hour)
			wantEqual(t, "spread", lease.Spread(), lock.Spread{Held: 3, Stores: 3, Surplus: 2})
			for j, n := range nodes {
				if n.Holders()["a"] != lease.Owner() {
					t.Errorf("node %d has %v", j+1, n.Holders())
				}
			}
			nodes[i].Restart()
		}
		pass(time.Second)
		_, err := b.Mutex("a", nil).TryLock(t.Context())
		wantErr(t, err, lock.ErrHeld)
		mustUnlock(t, lease)
		wantNothingLeft(t, nodes, time.Millisecond)
	})
}
