package quorum_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/internal/several/severaltest"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/quorum"
)

// TestContendersSplitTheVotes: all ask at the same moment, over lines that are not equally long. Nobody may need to
// wait for votes that nobody uses.
func TestContendersSplitTheVotes(t *testing.T) {
	for _, n := range []int{2, 5} {
		for _, slowest := range []time.Duration{0, time.Millisecond, 3 * time.Millisecond} {
			t.Run(fmt.Sprintf("%d over lines of up to %s", n, slowest), func(t *testing.T) {
				five(t, func(t *testing.T, nodes severaltest.Servers) { contend(t, nodes, n, slowest) })
			})
		}
	}
}

// contend has so many clients ask for a lock in each of 200 rounds.
func contend(t *testing.T, nodes severaltest.Servers, n int, slowest time.Duration) {
	t.Helper()
	random := rand.New(rand.NewPCG(uint64(n), uint64(slowest)))
	members := make([]*member, n)
	for i := range members {
		members[i] = join(t, nodes, nil)
		mustUnlock(t, mustLock(t, members[i], "other"))
	}
	var firsts, lasts time.Duration
	for round := range 200 {
		for _, m := range members {
			for _, line := range m.lines {
				line.Lag(time.Duration(random.Int64N(int64(slowest) + 1)))
			}
		}
		first, last := ask(t, members, fmt.Sprint("round ", round%7))
		firsts, lasts = max(firsts, first), max(lasts, last)
		pass(time.Duration(random.Int64N(int64(time.Second))))
	}
	t.Logf("the first had the lock after %s at most, the last one after %s", firsts, lasts)
	if most := 100 * time.Millisecond; firsts > most {
		t.Errorf("the first had the lock after %s", firsts)
	}
	if most := time.Duration(n) * 150 * time.Millisecond; lasts > most {
		t.Errorf("the last one had the lock after %s", lasts)
	}
	wantNothingLeft(t, nodes, time.Second)
}

// ask has all clients take a lock at the same moment, and tells when the first and the last of them had it.
func ask(t *testing.T, members []*member, name string) (first, last time.Duration) {
	t.Helper()
	var holders, had atomic.Int32
	var mu sync.Mutex
	var group sync.WaitGroup
	began := time.Now()
	for _, m := range members {
		group.Go(func() {
			lease, err := m.Mutex(name, nil).Lock(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			if holders.Add(1) > 1 {
				t.Error("two have the lock")
			}
			mu.Lock()
			last = time.Since(began)
			if had.Add(1) == 1 {
				first = last
			}
			mu.Unlock()
			pass(time.Millisecond)
			holders.Add(-1)
			if err := lease.Unlock(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	return first, last
}

// TestStrayVoteKeepsOthersOut: somebody has crashed who had one vote. Others have the lock all the same, whether they
// find it free or wait for it.
func TestStrayVoteKeepsOthersOut(t *testing.T) {
	for at := 1; at <= 5; at++ {
		t.Run(fmt.Sprint("node ", at), func(t *testing.T) {
			five(t, func(t *testing.T, nodes severaltest.Servers) {
				vote(t, nodes[at-1], "a")
				a, b := join(t, nodes, nil), join(t, nodes, nil)
				for _, m := range []*member{a, b, a} {
					began := time.Now()
					lease := mustLock(t, m, "a")
					if took := time.Since(began); took > 10*time.Millisecond {
						t.Errorf("free, and had after %s", took)
					}
					next := make(chan *lock.Lease, 1)
					other := b
					if m == b {
						other = a
					}
					go func() { next <- mustLock(t, other, "a") }()
					pass(10 * time.Second)
					mustUnlock(t, lease)
					began = time.Now()
					mustUnlock(t, <-next)
					if took := time.Since(began); took > time.Second {
						t.Errorf("had %s after the release", took)
					}
				}
			})
		})
	}
}

// TestStrayVoteMakesOthersAskAllTheTime: two nodes are down, and one has the vote of somebody who has crashed. There
// is no majority, and nothing to be gained by asking as fast as the nodes can answer.
func TestStrayVoteMakesOthersAskAllTheTime(t *testing.T) {
	for at := 1; at <= 3; at++ {
		t.Run(fmt.Sprint("node ", at), func(t *testing.T) {
			five(t, func(t *testing.T, nodes severaltest.Servers) {
				vote(t, nodes[at-1], "a")
				locks := join(t, nodes, nil)
				locks.down(4, 5)
				_, err := locks.Mutex("a", &lock.MutexOptions{Wait: 10 * time.Second}).Lock(t.Context())
				if err == nil {
					t.Fatal("two of five votes are enough")
				}
				if calls := locks.lines[0].Calls(bedrocktest.Acquire); calls > 200 {
					t.Errorf("%d requests of a node within 10 s: %v", calls, err)
				}
			})
		})
	}
}

// TestWaitersAskAllTheTime: a holder is there, who has all votes, and keeps the lock.
func TestWaitersAskAllTheTime(t *testing.T) {
	five(t, func(t *testing.T, nodes severaltest.Servers) {
		a := join(t, nodes, nil)
		lease := mustLock(t, a, "a")
		waiters := make([]*member, 5)
		var group sync.WaitGroup
		for i := range waiters {
			waiters[i] = join(t, nodes, &quorum.Options{})
			group.Go(func() { mustUnlock(t, mustLock(t, waiters[i], "a")) })
		}
		asked := func(i, n int) int { return waiters[i].lines[n].Calls(bedrocktest.Acquire) }
		var early [5][5]int
		pass(time.Second) // a node that the holder's request reaches last is had by each of them for a moment
		for i := range waiters {
			for n := range nodes {
				early[i][n] = asked(i, n)
			}
		}
		pass(time.Minute)
		for i := range waiters {
			for n := range nodes {
				if calls := asked(i, n) - early[i][n]; calls > 6 {
					t.Errorf("waiter %d has asked node %d %d times within a minute", i, n+1, calls)
				}
			}
		}
		mustUnlock(t, lease)
		group.Wait()
	})
}

// TestHungNodesHoldARefusalUp: who is refused keeps votes from others for as long as it waits for nodes that do not
// answer, and nobody knows of that yet.
func TestHungNodesHoldARefusalUp(t *testing.T) {
	five(t, func(t *testing.T, nodes severaltest.Servers) {
		vote(t, nodes[3], "a")
		locks := join(t, nodes, nil)
		mustUnlock(t, mustLock(t, locks, "other"))
		for _, line := range locks.lines[:2] {
			line.Freeze()
			defer line.Thaw()
		}
		began := time.Now()
		_, err := locks.Mutex("a", nil).TryLock(t.Context())
		wantErr(t, err, lock.ErrHeld)
		if took := time.Since(began); took > 300*time.Millisecond {
			t.Errorf("refused after %s", took)
		}
		for _, n := range []int{3, 5} {
			if held := nodes[n-1].Holders(); len(held) > 0 {
				t.Errorf("node %d has %v", n, held)
			}
		}
	})
}
