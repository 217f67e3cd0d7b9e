package quorum_test

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
	"github.com/bedrock-go/bedrock/lock/quorum"
)

// hitch is what goes wrong at a node that has a vote to give.
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
		fail("it comes late", bedrocktest.Acquire, bedrocktest.Fault{Delay: 300 * time.Millisecond}),
		{"it hangs for long", func(line *bedrocktest.Backend) {
			line.Freeze()
			time.AfterFunc(20*time.Second, line.Thaw)
		}},
		fail("its answer comes late", bedrocktest.Acquire, bedrocktest.Fault{Linger: 300 * time.Millisecond}),
		fail("its answer comes very late", bedrocktest.Acquire, bedrocktest.Fault{Linger: 20 * time.Second}),
		fail("its answer is lost", bedrocktest.Acquire, bedrocktest.Fault{After: lost}),
		fail("its answer is lost late", bedrocktest.Acquire,
			bedrocktest.Fault{Delay: time.Second, Linger: time.Second, After: lost}),
		fail("it cannot be reached to give back", release, bedrocktest.Fault{Before: driver.ErrUnavailable},
			bedrocktest.Fault{Before: lost}, bedrocktest.Fault{Before: driver.ErrUnavailable}),
		fail("the answer to the release is lost", release, bedrocktest.Fault{After: lost}),
		fail("the release comes late", release, bedrocktest.Fault{Delay: time.Second}),
		fail("the release comes very late", release, bedrocktest.Fault{Delay: 20 * time.Second}),
		{"both answers are lost", func(line *bedrocktest.Backend) {
			line.LoseReply(bedrocktest.Acquire)
			line.LoseReply(release)
		}},
	}
}

// TestFailedRequestLeavesAVote: others have the lock, or too few nodes are there. The votes that were given are given
// back, whatever goes wrong with them.
func TestFailedRequestLeavesAVote(t *testing.T) {
	for _, h := range hitches() {
		for _, held := range []bool{true, false} {
			for _, try := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s/held %t/try %t", h.name, held, try), func(t *testing.T) {
					five(t, func(t *testing.T, nodes severaltest.Servers) { fail(t, nodes, h, held, try) })
				})
			}
		}
	}
}

// fail asks for what cannot be had, and looks what is left at the nodes.
func fail(t *testing.T, nodes severaltest.Servers, h hitch, held, try bool) {
	t.Helper()
	a, b := join(t, nodes, nil), join(t, nodes, &quorum.Options{Lock: lock.Options{TTL: time.Hour}})
	mustUnlock(t, mustLock(t, b, "other")) // it knows the nodes, and their clocks
	var lease *lock.Lease
	if held {
		a.down(4, 5)
		lease = mustLock(t, a, "a")
	} else {
		b.down(1, 2, 3)
	}
	h.plan(b.lines[3])
	m := b.Mutex("a", &lock.MutexOptions{Wait: 3 * time.Second})
	ask := m.Lock
	if try {
		ask = m.TryLock
	}
	if got, err := ask(t.Context()); err == nil {
		t.Fatalf("granted, on %+v", got.Spread())
	} else if held && !errors.Is(err, lock.ErrHeld) || !held && !errors.Is(err, quorum.ErrNoQuorum) {
		t.Logf("failed with %v", err)
	}
	if held {
		mustUnlock(t, lease)
	}
	b.up(1, 2, 3)
	wantNothingLeft(t, nodes, 40*time.Second)
	mustUnlock(t, mustLock(t, a, "a"))
	wantNothingLeft(t, nodes, time.Second)
}

// TestCancelledRequestLeavesAVote: the caller leaves while the nodes are asked, or while their votes are given back.
func TestCancelledRequestLeavesAVote(t *testing.T) {
	for _, h := range hitches() {
		for _, after := range []time.Duration{time.Nanosecond, 10 * time.Millisecond, 310 * time.Millisecond} {
			t.Run(fmt.Sprintf("%s/after %s", h.name, after), func(t *testing.T) {
				five(t, func(t *testing.T, nodes severaltest.Servers) {
					b := join(t, nodes, &quorum.Options{Lock: lock.Options{TTL: time.Hour}})
					mustUnlock(t, mustLock(t, b, "other"))
					for _, line := range b.lines {
						line.Lag(5 * time.Millisecond)
					}
					for _, line := range b.lines[2:] {
						h.plan(line)
					}
					ctx, cancel := context.WithTimeout(t.Context(), after)
					defer cancel()
					if lease, err := b.Mutex("a", nil).Lock(ctx); err == nil {
						_ = lease.Unlock(context.Background()) // its answer may be lost
					}
					wantNothingLeft(t, nodes, 40*time.Second)
					mustUnlock(t, mustLock(t, b, "a"))
					wantNothingLeft(t, nodes, time.Second)
				})
			})
		}
	}
}

// TestStoppedClientLeavesAVote: it waits a moment for what it owes.
func TestStoppedClientLeavesAVote(t *testing.T) {
	five(t, func(t *testing.T, nodes severaltest.Servers) {
		a, b := join(t, nodes, nil), join(t, nodes, &quorum.Options{Lock: lock.Options{TTL: time.Hour}})
		a.down(4, 5)
		lease := mustLock(t, a, "a")
		b.lines[3].Fail(bedrocktest.Release, bedrocktest.Fault{Before: driver.ErrUnavailable})
		b.lines[4].LoseReply(bedrocktest.Acquire)
		_, err := b.Mutex("a", nil).TryLock(t.Context())
		wantErr(t, err, lock.ErrHeld)
		if err := b.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		mustUnlock(t, lease)
		wantNothingLeft(t, nodes, time.Millisecond)
	})
}

// TestClosedBackendCutsReleasesOff that are on their way to nodes which nobody has waited for.
func TestClosedBackendCutsReleasesOff(t *testing.T) {
	five(t, func(t *testing.T, nodes severaltest.Servers) {
		lines, backends := nodes.Connect()
		for i := range backends[:2] {
			backends[i] = &far{lines[i]}
		}
		locks, err := quorum.New(backends, nil)
		if err != nil {
			t.Fatal(err)
		}
		mustUnlock(t, mustLock(t, &member{locks, lines}, "a"))
		if err := locks.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		wantNothingLeft(t, nodes, time.Nanosecond)
	})
}

// far is a node to which a release takes a while, unless it is broken off.
type far struct{ *bedrocktest.Backend }

// Release implements [driver.Backend].
func (f *far) Release(ctx context.Context, g driver.Grant) (int, error) {
	select {
	case <-time.After(50 * time.Millisecond):
		return f.Backend.Release(ctx, g)
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// TestReleaseOfARequestIsNeverCertain although three nodes of five are free of it.
func TestReleaseOfARequestIsNeverCertain(t *testing.T) {
	five(t, func(t *testing.T, nodes severaltest.Servers) {
		lines, backends := nodes.Connect()
		b, err := quorum.NewBackend(backends, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		for _, line := range lines[:2] {
			line.Down()
		}
		for range 10 { // whoever answers first
			req := driver.Request{Name: "a", Owner: "owner:1", TTL: time.Minute, Tokens: 1}
			if _, err := nodes[4].Client().Acquire(t.Context(), req); err != nil {
				t.Fatal(err)
			}
			_, err := b.Release(t.Context(), driver.Grant{Name: "a", Owner: "owner:1", TTL: time.Minute})
			wantErr(t, err, driver.ErrLost)
		}
		for _, line := range lines {
			line.Down()
		}
		_, err = b.Release(t.Context(), driver.Grant{Name: "a", Owner: "owner:1", TTL: time.Minute})
		wantErr(t, err, driver.ErrUnavailable)
	})
}

// oddNode cannot release one name, ever.
type oddNode struct{ *bedrocktest.Backend }

// Release implements [driver.Backend].
func (n *oddNode) Release(ctx context.Context, g driver.Grant) (int, error) {
	if g.Name == "odd" {
		return 0, errors.New("ERR odd")
	}
	return n.Backend.Release(ctx, g)
}

// TestDebtThatFailsStandsBeforeAllOthers: a node says of one name that it cannot release it, whenever it is asked.
func TestDebtThatFailsStandsBeforeAllOthers(t *testing.T) {
	several(t, 3, func(t *testing.T, nodes severaltest.Servers) {
		lines, backends := nodes.Connect()
		backends[0] = &oddNode{lines[0]}
		m := memberOf(t, lines, backends, &quorum.Options{Lock: lock.Options{TTL: time.Hour}})
		odd, lease := mustLock(t, m, "odd"), mustLock(t, m, "a")
		pass(time.Second)
		mustUnlock(t, odd)
		pass(10 * time.Millisecond)
		lines[0].Fail(bedrocktest.Release, bedrocktest.Fault{Before: driver.ErrUnavailable})
		mustUnlock(t, lease)
		pass(10 * time.Second)
		wantEqual(t, "holder at node 1, ten seconds after Unlock", nodes[0].Holders()["a"], "")
	})
}

// TestHiccupBeforeUnlockKeepsOthersOut: two nodes have not answered once, and are taken for gone when a lock is
// unlocked that others cannot have without one of them.
func TestHiccupBeforeUnlockKeepsOthersOut(t *testing.T) {
	five(t, func(t *testing.T, nodes severaltest.Servers) {
		opts := &quorum.Options{Surplus: 1}
		a, b := join(t, nodes, opts), join(t, nodes, opts)
		mustUnlock(t, mustLock(t, b, "other"))
		lease := mustLock(t, a, "a")
		pass(time.Second)
		for _, l := range a.lines[3:] {
			l.Fail(bedrocktest.Acquire, bedrocktest.Fault{Before: driver.ErrUnavailable})
		}
		_, err := a.Mutex("b", nil).TryLock(t.Context())
		wantErr(t, err, quorum.ErrNoQuorum)
		mustUnlock(t, lease)
		wantFreeNow(t, b, "a", "after Unlock")
	})
}
