package quorum_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/internal/several/severaltest"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/quorum"
)

// TestYoungNodesVote: three of five were started a while ago.
func TestYoungNodesVote(t *testing.T) {
	for _, tt := range []struct {
		opts  quorum.Options
		mutex *lock.MutexOptions
		age   time.Duration
	}{
		{quorum.Options{}, nil, 30 * time.Second},
		{quorum.Options{Lock: lock.Options{TTL: 5 * time.Second}}, nil, 5 * time.Second},
		{quorum.Options{Quarantine: time.Minute}, nil, time.Minute},
		{quorum.Options{Quarantine: time.Minute}, &lock.MutexOptions{TTL: time.Hour}, time.Hour},
		{quorum.Options{}, &lock.MutexOptions{TTL: time.Second}, 30 * time.Second},
	} {
		five(t, func(t *testing.T, nodes severaltest.Servers) {
			locks := join(t, nodes, &tt.opts)
			for _, n := range nodes[2:] {
				n.Restart()
			}
			pass(tt.age - time.Millisecond)
			_, err := locks.Mutex("a", tt.mutex).TryLock(t.Context())
			wantErr(t, err, quorum.ErrNoQuorum,
				`quorum: acquire "a": no quorum: 2 of 5 nodes have granted it, 3 are needed`,
				"node 3: started a short while ago, and may have forgotten who has what")
			wantErr(t, err, driver.ErrUnavailable)
			wantNothingLeft(t, nodes, time.Millisecond)
			lease, err := locks.Mutex("a", tt.mutex).TryLock(t.Context())
			if err != nil {
				t.Fatalf("after %s: %v", tt.age, err)
			}
			mustUnlock(t, lease)
		})
	}
}

// TestNodesWithoutMemoryWait: whoever says that nodes forget nothing has the lock at once.
func TestNodesWithoutMemoryWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		locks := join(t, severaltest.NewServers(3), &quorum.Options{Quarantine: -1})
		mustUnlock(t, mustLock(t, locks, "a"))
	})
}

// TestEvenNumberOfNodes: two who have half of the votes each have nothing.
func TestEvenNumberOfNodes(t *testing.T) {
	several(t, 4, func(t *testing.T, nodes severaltest.Servers) {
		opts := &quorum.Options{Majority: 3}
		a, b := join(t, nodes, opts), join(t, nodes, opts)
		a.down(3, 4)
		b.down(1, 2)
		for _, m := range []*member{a, b} {
			_, err := m.Mutex("a", nil).TryLock(t.Context())
			wantErr(t, err, quorum.ErrNoQuorum, "2 of 4 nodes have granted it, 3 are needed")
		}
		wantNothingLeft(t, nodes, time.Second)
		a.up(3)
		lease := mustLock(t, a, "a")
		wantEqual(t, "spread", lease.Spread(), lock.Spread{Held: 3, Stores: 4, Surplus: 1})
		b.up(1, 2)
		_, err := b.Mutex("a", nil).TryLock(t.Context())
		wantErr(t, err, lock.ErrHeld)
		nodes[0].Restart() // as many may forget it as there are to spare
		pass(time.Minute)
		wantEqual(t, "after one has forgotten it", lease.State(), lock.Held)
		mustUnlock(t, lease)
		wantNothingLeft(t, nodes, time.Second)
	})
}

// TestTwoNodesAreOneStore under two addresses, and one of them may tell who it is late.
func TestTwoNodesAreOneStore(t *testing.T) {
	for name, fault := range map[string]bedrocktest.Fault{
		"at once":        {},
		"late":           {Delay: 100 * time.Millisecond},
		"later":          {Linger: 2 * time.Second},
		"once more":      {Before: driver.ErrUnavailable},
		"after an error": {After: bedrocktest.ErrReplyLost},
	} {
		for _, at := range []int{1, 3} {
			t.Run(fmt.Sprintf("node %d %s", at, name), func(t *testing.T) {
				five(t, func(t *testing.T, nodes severaltest.Servers) {
					nodes[2] = nodes[0]
					locks := join(t, nodes, &quorum.Options{Lock: lock.Options{TTL: time.Hour}})
					locks.lines[at-1].Fail(bedrocktest.Identity, fault)
					for range 3 {
						lease, err := locks.Mutex("a", nil).TryLock(t.Context())
						if err == nil {
							if on := lease.Spread(); on.Held > 4 {
								t.Errorf("one node does not say who it is, and the lease is on %+v", on)
							}
							pass(time.Second) // it is asked again meanwhile
							mustUnlock(t, lease)
							continue
						}
						wantErr(t, err, driver.ErrRefused, "nodes 1 and 3 are one store")
					}
					_, err := locks.Mutex("a", nil).Lock(t.Context())
					wantErr(t, err, driver.ErrRefused,
						"nodes 1 and 3 are one store, server 0x", ": each must be another")
					findings, err := locks.Check(t.Context())
					if err != nil || len(findings) == 0 || findings[0].Level != driver.Danger ||
						!strings.HasPrefix(findings[0].What, "nodes 1 and 3 are one store") {
						t.Errorf("check: %+v, %v", findings, err)
					}
					wantNothingLeft(t, nodes, 10*time.Second)
				})
			})
		}
	}
}

// TestCheckHidesANode: each finding says where, and one that does not answer is one.
func TestCheckHidesANode(t *testing.T) {
	for name, silence := range map[string]func(*bedrocktest.Backend){
		"down": (*bedrocktest.Backend).Down, "frozen": (*bedrocktest.Backend).Freeze,
	} {
		t.Run(name, func(t *testing.T) {
			several(t, 3, func(t *testing.T, nodes severaltest.Servers) {
				locks := join(t, nodes, nil)
				defer locks.lines[1].Thaw()
				silence(locks.lines[1])
				findings, err := locks.Check(t.Context())
				if err != nil || len(findings) != 3 {
					t.Fatalf("%+v, %v", findings, err)
				}
				if f := findings[0]; f.Level != driver.Warning || !strings.HasPrefix(f.What, "node 2: ") {
					t.Errorf("not the worst: %+v", f)
				}
				for _, n := range []int{1, 3} {
					want := fmt.Sprintf("node %d: the locks are in this process's memory", n)
					if f := findings[n/2+1]; f.What != want || f.Level != driver.Notice {
						t.Errorf("%+v, want %s", f, want)
					}
				}
			})
		})
	}
}

// TestNodeHidesAHolder: one node does not answer, or hangs, or has forgotten all.
func TestNodeHidesAHolder(t *testing.T) {
	for name, silence := range map[string]func(nodes severaltest.Servers, m *member){
		"down":      func(_ severaltest.Servers, m *member) { m.down(2) },
		"frozen":    func(_ severaltest.Servers, m *member) { m.lines[1].Freeze() },
		"forgetful": func(nodes severaltest.Servers, _ *member) { nodes[1].Restart() },
	} {
		t.Run(name, func(t *testing.T) {
			five(t, func(t *testing.T, nodes severaltest.Servers) {
				a, b := join(t, nodes, nil), join(t, nodes, nil)
				defer b.lines[1].Thaw()
				lease := mustLock(t, a, "a")
				mustUnlock(t, mustLock(t, b, "b"))
				pass(10 * time.Second)
				silence(nodes, b)
				info, err := b.Inspect(t.Context(), "a")
				if err != nil || len(info.Holders) != 1 || info.Holders[0].Owner != lease.Owner() ||
					info.Token < lease.Token() || info.Holders[0].TTL != 20*time.Second {
					t.Errorf("inspect: %+v, %v", info, err)
				}
				list, err := b.List(t.Context(), "", 10)
				if err != nil || len(list) != 1 || list[0].Name != "a" || len(list[0].Holders) != 1 {
					t.Errorf("list: %+v, %v", list, err)
				}
				if info, err := b.Inspect(t.Context(), "b"); err != nil || info.Held() {
					t.Errorf("inspect what is free: %+v, %v", info, err)
				}
				mustUnlock(t, lease)
			})
		})
	}
}

// TestVotesOfSomeAreALock: who has two of five votes has nothing, and three nodes have to say so.
func TestVotesOfSomeAreALock(t *testing.T) {
	five(t, func(t *testing.T, nodes severaltest.Servers) {
		locks := join(t, nodes, nil)
		for _, n := range nodes[:2] {
			vote(t, n, "a")
		}
		if info, err := locks.Inspect(t.Context(), "a"); err != nil || info.Held() {
			t.Errorf("inspect: %+v, %v", info, err)
		}
		if list, err := locks.List(t.Context(), "", 10); err != nil || len(list) > 0 {
			t.Errorf("list: %+v, %v", list, err)
		}
		vote(t, nodes[2], "a")
		if list, err := locks.List(t.Context(), "", 10); err != nil || len(list) != 1 {
			t.Errorf("list of a majority: %+v, %v", list, err)
		}
		locks.down(1, 2, 3)
		_, err := locks.Inspect(t.Context(), "a")
		wantErr(t, err, driver.ErrUnavailable, "of the nodes, 2 answered, 3 are needed")
		_, err = locks.List(t.Context(), "", 10)
		wantErr(t, err, driver.ErrUnavailable, "of the nodes, 2 answered, 3 are needed")
	})
}

// vote is what somebody has left at a node who has crashed.
func vote(t *testing.T, node *severaltest.Server, name string) {
	t.Helper()
	req := driver.Request{Name: name, Owner: "crashed:1", TTL: time.Hour, Tokens: 1}
	if _, err := node.Client().Acquire(t.Context(), req); err != nil {
		t.Fatal(err)
	}
}

// TestForcedReleaseIsHeardOfLate: the holder is told at once, also when a node does not answer who forces it.
func TestForcedReleaseIsHeardOfLate(t *testing.T) {
	for _, down := range [][]int{nil, {1}, {2, 4}} {
		t.Run(fmt.Sprint("down ", down), func(t *testing.T) {
			five(t, func(t *testing.T, nodes severaltest.Servers) {
				a, b := join(t, nodes, nil), join(t, nodes, nil)
				lease := mustLock(t, a, "a")
				pass(time.Second)
				b.down(down...)
				if held, err := b.ForceRelease(t.Context(), "a"); err != nil || !held {
					t.Errorf("force: %t, %v", held, err)
				}
				pass(time.Millisecond)
				if lease.Context().Err() == nil {
					t.Errorf("the lease is %s, on %+v", lease.State(), lease.Spread())
				}
				next, err := b.Mutex("a", &lock.MutexOptions{Wait: time.Second}).Lock(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if next.Token() <= lease.Token() {
					t.Errorf("token %d after %d", next.Token(), lease.Token())
				}
				mustUnlock(t, next)
				wantErr(t, lease.Unlock(t.Context()), lock.ErrLost)
				wantNothingLeft(t, nodes, time.Second)
			})
		})
	}
}
