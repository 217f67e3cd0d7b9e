package quorum_test

import (
	"context"
	"errors"
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

// lockIn takes a lock in the background.
func lockIn(t *testing.T, m *member, name string, opts *lock.MutexOptions) <-chan *lock.Lease {
	next := make(chan *lock.Lease, 1)
	go func() {
		lease, err := m.Mutex(name, opts).Lock(t.Context())
		if err != nil {
			t.Error(err)
		}
		next <- lease
	}()
	return next
}

// TestStrayOfTheFormerHolder: the holder's release reaches four of five nodes, and not the first one, ever. Who waits
// and was told that the holder has the lock goes on by the first node for as long as the stray vote lives.
func TestStrayOfTheFormerHolder(t *testing.T) {
	five(t, func(t *testing.T, nodes severaltest.Servers) {
		long := &quorum.Options{Lock: lock.Options{TTL: 10 * time.Minute}}
		a, b := join(t, nodes, long), join(t, nodes, long)
		lease := mustLock(t, a, "a")
		next := lockIn(t, b, "a", nil)
		pass(2 * time.Second)
		a.down(1)
		mustUnlock(t, lease)
		released := time.Now()
		mustUnlock(t, <-next)
		if took := time.Since(released); took > time.Second {
			t.Errorf("the one who waits had the lock %s after it was free", took)
		}
		a.up(1)
	})
}

// TestWatchThatFailedAtTheFirstNode: the waiter cannot listen at the first node, once; the release comes there 100 ms
// later than elsewhere.
func TestWatchThatFailedAtTheFirstNode(t *testing.T) {
	five(t, func(t *testing.T, nodes severaltest.Servers) {
		long := &quorum.Options{Lock: lock.Options{TTL: time.Hour}}
		a, b := join(t, nodes, long), join(t, nodes, long)
		lease := mustLock(t, a, "a")
		b.lines[0].Fail(bedrocktest.Watch, bedrocktest.Fault{Before: driver.ErrUnavailable})
		next := lockIn(t, b, "a", nil)
		pass(2 * time.Second)
		a.lines[0].Fail(bedrocktest.Release, bedrocktest.Fault{Delay: 100 * time.Millisecond})
		mustUnlock(t, lease)
		released := time.Now()
		mustUnlock(t, <-next)
		if took := time.Since(released); took > time.Second {
			t.Errorf("the one who waits had the lock %s after it was free", took)
		}
	})
}

// TestMinHoldLeavesVotes: a lease that is kept for its minimum hold time gets votes of a whole TTL.
func TestMinHoldLeavesVotes(t *testing.T) {
	several(t, 3, func(t *testing.T, nodes severaltest.Servers) {
		a := join(t, nodes, nil)
		a.down(3)
		lease, err := a.Mutex("a", &lock.MutexOptions{TTL: time.Hour, MinHold: 4 * time.Second}).Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		pass(3 * time.Second)
		a.up(3)
		mustUnlock(t, lease)
		wantNothingLeft(t, nodes, 3*time.Second)
	})
}

// TestMinHoldKeepsOthersOut: the same with a surplus: nobody can have the lock for a TTL.
func TestMinHoldKeepsOthersOut(t *testing.T) {
	five(t, func(t *testing.T, nodes severaltest.Servers) {
		opts := &quorum.Options{Surplus: 2}
		a, b := join(t, nodes, opts), join(t, nodes, opts)
		lease, err := a.Mutex("a", &lock.MutexOptions{TTL: time.Hour, MinHold: 4 * time.Second}).Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		pass(2 * time.Second)
		nodes[4].Restart() // one forgets, there are two to spare
		pass(time.Second)
		mustUnlock(t, lease)
		wantNothingLeft(t, nodes, 3*time.Second)
		if _, err := b.Mutex("a", nil).TryLock(t.Context()); errors.Is(err, lock.ErrHeld) {
			t.Errorf("after the minimum hold time: %v", err)
		}
	})
}

// TestLateRenewal: a renewal comes while the votes are given back, and gets back what was given back.
func TestLateRenewal(t *testing.T) {
	several(t, 4, func(t *testing.T, nodes severaltest.Servers) {
		opts := &quorum.Options{Majority: 3, Lock: lock.Options{TTL: time.Hour}}
		lines, backends := nodes.Connect()
		inner, err := quorum.NewBackend(backends, opts)
		if err != nil {
			t.Fatal(err)
		}
		defer inner.Close()
		g, err := inner.Acquire(t.Context(), driver.Request{Name: "a", Owner: "o:1", TTL: time.Hour, Tokens: 1})
		if err != nil {
			t.Fatal(err)
		}
		pass(5 * time.Second)
		for _, l := range lines[2:] {
			l.Fail(bedrocktest.Release, bedrocktest.Fault{Delay: 20 * time.Millisecond})
		}
		go inner.Release(t.Context(), g)
		pass(time.Millisecond)
		inner.Renew(t.Context(), []driver.Grant{g}) // was on its way
		wantNothingLeft(t, nodes, time.Minute)
		b := join(t, nodes, opts)
		if _, err := b.Mutex("a", nil).TryLock(t.Context()); err != nil {
			t.Errorf("a minute after the release: %v", err)
		}
	})
}

// TestLateRenewalOfTheFront: the same through package lock, whose renewal is a moment late.
func TestLateRenewalOfTheFront(t *testing.T) {
	several(t, 4, func(t *testing.T, nodes severaltest.Servers) {
		opts := &quorum.Options{Majority: 3}
		lines, backends := nodes.Connect()
		inner, err := quorum.NewBackend(backends, opts)
		if err != nil {
			t.Fatal(err)
		}
		outer := bedrocktest.NewBackend(inner)
		locks, err := lock.New(outer, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer locks.Stop(t.Context())
		lease, err := locks.Mutex("a", nil).Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		outer.Fail(bedrocktest.Renew, bedrocktest.Fault{Delay: 5 * time.Millisecond})
		for outer.Calls(bedrocktest.Renew) == 0 {
			pass(time.Millisecond)
		}
		for _, l := range lines[2:] {
			l.Fail(bedrocktest.Release, bedrocktest.Fault{Delay: 20 * time.Millisecond})
		}
		mustUnlock(t, lease)
		wantNothingLeft(t, nodes, time.Second)
		if again, err := locks.Mutex("a", nil).TryLock(t.Context()); err != nil {
			t.Errorf("a second after the release: %v", err)
		} else {
			mustUnlock(t, again)
		}
	})
}

// TestUnlockedAndNotFree: Unlock has returned, all nodes are there, and nobody can have the lock.
func TestUnlockedAndNotFree(t *testing.T) {
	for name, tt := range map[string]struct {
		n    int
		opts quorum.Options
	}{
		"even":    {4, quorum.Options{Majority: 3}},
		"surplus": {5, quorum.Options{Surplus: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			several(t, tt.n, func(t *testing.T, nodes severaltest.Servers) {
				a, b := join(t, nodes, &tt.opts), join(t, nodes, &tt.opts)
				mustUnlock(t, mustLock(t, b, "other"))
				lease := mustLock(t, a, "a")
				pass(2 * time.Second)
				for _, l := range a.lines[tt.n-2:] {
					l.Fail(bedrocktest.Release, bedrocktest.Fault{Delay: 3 * time.Millisecond})
				}
				mustUnlock(t, lease)
				next, err := b.Mutex("a", nil).TryLock(t.Context())
				if err != nil {
					t.Errorf("after Unlock has returned: %v", err)
				} else {
					mustUnlock(t, next)
				}
				pass(time.Second)
			})
		})
	}
}

// TestNodesThatAreBackForLong are not asked what they know, for nobody has asked for a lock meanwhile.
func TestNodesThatAreBackForLong(t *testing.T) {
	five(t, func(t *testing.T, nodes severaltest.Servers) {
		a, b := join(t, nodes, nil), join(t, nodes, nil)
		lease := mustLock(t, a, "a")
		b.down(1, 2, 3, 4, 5)
		if _, err := b.Mutex("b", nil).TryLock(t.Context()); err == nil {
			t.Fatal("granted")
		}
		b.up(1, 2, 3, 4, 5)
		pass(time.Hour)
		if _, err := b.Inspect(t.Context(), "a"); err != nil {
			t.Errorf("inspect, an hour later: %v", err)
		}
		if _, err := b.List(t.Context(), "", 10); err != nil {
			t.Errorf("list, an hour later: %v", err)
		}
		if findings, err := b.Check(t.Context()); err != nil || findings[0].Level == driver.Warning {
			t.Errorf("check, an hour later: %+v %v", findings[0], err)
		}
		if _, err := b.ForceRelease(t.Context(), "a"); err != nil {
			t.Errorf("force, an hour later: %v", err)
		}
		_ = lease
	})
}

// TestCheckOfANodeThatHangs says that two nodes are one.
func TestCheckOfANodeThatHangs(t *testing.T) {
	several(t, 3, func(t *testing.T, nodes severaltest.Servers) {
		locks := join(t, nodes, nil)
		locks.lines[1].Freeze()
		defer locks.lines[1].Thaw()
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		findings, err := locks.Check(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range findings {
			if strings.Contains(f.Means, "two votes") {
				t.Errorf("no node is there twice: %+v", f)
			}
		}
	})
}

// TestListHidesALock behind stray votes.
func TestListHidesALock(t *testing.T) {
	several(t, 3, func(t *testing.T, nodes severaltest.Servers) {
		locks := join(t, nodes, nil)
		for i, name := range []string{"a", "b", "c"} {
			vote(t, nodes[i], name)
		}
		mustLock(t, locks, "z")
		list, err := locks.List(t.Context(), "", 1)
		if err != nil || len(list) != 1 {
			t.Errorf("z is held: %+v, %v", list, err)
		}
	})
}

// TestInspectSaysFree of what is held, when two nodes that have it are a little slow.
func TestInspectSaysFree(t *testing.T) {
	for name, hide := range map[string]func(b *member){
		"slow": func(b *member) {
			for _, l := range b.lines[:2] {
				l.Lag(25 * time.Millisecond)
			}
		},
		"down": func(b *member) { b.down(1, 2) },
	} {
		t.Run(name, func(t *testing.T) {
			five(t, func(t *testing.T, nodes severaltest.Servers) {
				a, b := join(t, nodes, nil), join(t, nodes, nil)
				a.down(4, 5)
				mustLock(t, a, "a")
				hide(b)
				if info, err := b.Inspect(t.Context(), "a"); err == nil && !info.Held() {
					t.Errorf("it is held: %+v", info)
				}
				if list, err := b.List(t.Context(), "", 10); err == nil && len(list) == 0 {
					t.Errorf("it is held: %+v", list)
				}
			})
		})
	}
}

// public tells who has a lock as a node in another process may.
type public struct{ *bedrocktest.Backend }

func (p *public) Acquire(ctx context.Context, req driver.Request) (driver.Grant, error) {
	g, err := p.Backend.Acquire(ctx, req)
	if held, ok := errors.AsType[*driver.HeldError](err); ok {
		err = &driver.HeldError{Owner: driver.PublicOwner(held.Owner), TTL: held.TTL}
	}
	return g, err
}

// TestNodesThatNameTheHolderDifferently: who waits asks all the time.
func TestNodesThatNameTheHolderDifferently(t *testing.T) {
	several(t, 3, func(t *testing.T, nodes severaltest.Servers) {
		opts := &quorum.Options{Lock: lock.Options{TTL: time.Hour}}
		a := join(t, nodes, opts)
		lines, backends := nodes.Connect()
		backends[0] = &public{lines[0]}
		b, err := quorum.New(backends, opts)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Stop(context.Background())
		a.down(3)
		lines[2].Down()
		lease := mustLock(t, a, "a")
		next := lockIn(t, &member{b, lines}, "a", nil)
		pass(2 * time.Second)
		before := lines[1].Calls(bedrocktest.Acquire)
		pass(10 * time.Second)
		if n := lines[1].Calls(bedrocktest.Acquire) - before; n > 10 {
			t.Errorf("a node was asked %d times in 10 s, while nothing happened", n)
		}
		mustUnlock(t, lease)
		mustUnlock(t, <-next)
	})
}

// TestCloseWithAWatch does not return.
func TestCloseWithAWatch(t *testing.T) {
	nodes := severaltest.NewServers(3)
	_, backends := nodes.Connect()
	b, err := quorum.NewBackend(backends, nil)
	if err != nil {
		t.Fatal(err)
	}
	w, err := b.(driver.Waiter).Watch(t.Context(), "a", driver.Mutex)
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan struct{})
	go func() { _ = b.Close(); close(closed) }()
	select {
	case <-closed:
	case <-time.After(5 * time.Second):
		t.Error("Close hangs while somebody listens")
	}
	w.Close()
	<-closed
}

// TestDebtIsForgivenTooSoon: the answers to a renewal are lost, one node cannot be reached for the release until what
// it had before the renewal has run out, and is not asked any more, though its vote lives.
func TestDebtIsForgivenTooSoon(t *testing.T) {
	five(t, func(t *testing.T, nodes severaltest.Servers) {
		lines, backends := nodes.Connect()
		b, err := quorum.NewBackend(backends, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		g, err := b.Acquire(t.Context(), driver.Request{Name: "a", Owner: "o:1", TTL: 10 * time.Second, Tokens: 1})
		if err != nil {
			t.Fatal(err)
		}
		pass(5 * time.Second)
		for _, l := range lines {
			l.LoseReply(bedrocktest.Renew)
		}
		b.Renew(t.Context(), []driver.Grant{g})
		pass(time.Second)
		lines[0].Down()
		if _, err := b.Release(t.Context(), g); err != nil {
			t.Fatal(err)
		}
		pass(5 * time.Second) // 11 s
		lines[0].Up()
		wantNothingLeft(t, nodes, time.Second) // it lives for 15
	})
}

// TestRevived: a grant that others could have had, and have had, is put together again by a vote that is sought
// late.
func TestRevived(t *testing.T) {
	five(t, func(t *testing.T, nodes severaltest.Servers) {
		opts := &quorum.Options{Lock: lock.Options{TTL: 200 * time.Millisecond}}
		al, ab := nodes.Connect()
		_, bb := nodes.Connect()
		a, err := quorum.NewBackend(ab, opts)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		b, err := quorum.NewBackend(bb, opts)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		ttl := 200 * time.Millisecond
		warm := driver.Request{Name: "w", Owner: "w:1", TTL: ttl, Tokens: 1}
		for _, x := range []driver.Backend{a, b} {
			g, err := x.Acquire(t.Context(), warm)
			if err != nil {
				t.Fatal(err)
			}
			x.Release(t.Context(), g)
			pass(time.Second)
		}
		al[3].Down()
		al[4].Down()
		g, err := a.Acquire(t.Context(), driver.Request{Name: "a", Owner: "a:1", TTL: ttl, Tokens: 1})
		if err != nil {
			t.Fatal(err)
		}
		al[2].Down()
		pass(150 * time.Millisecond)
		t.Log(a.Renew(t.Context(), []driver.Grant{g})) // two nodes
		pass(52 * time.Millisecond)                    // 202 ms
		other, err := b.Acquire(t.Context(), driver.Request{Name: "a", Owner: "b:1", TTL: ttl, Tokens: 1})
		if err != nil {
			t.Fatal(err)
		}
		al[3].Up()
		al[4].Up()
		if _, err := b.Release(t.Context(), other); err != nil {
			t.Fatal(err)
		}
		pass(13 * time.Millisecond) // the votes are sought at 210 ms
		if err := a.Renew(t.Context(), []driver.Grant{g})[0]; err == nil {
			t.Errorf("token %d goes on, and %d was given out meanwhile", g.Token, other.Token)
		}
	})
}

type unhashable struct {
	driver.Backend
	_ []int
}

// TestUnhashableNode panics.
func TestUnhashableNode(t *testing.T) {
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("panic: %v", p)
		}
	}()
	nodes := severaltest.NewServers(3)
	_, backends := nodes.Connect()
	for i := range backends {
		backends[i] = unhashable{Backend: backends[i]}
	}
	b, err := quorum.NewBackend(backends, nil)
	if err == nil {
		b.Close()
	}
}

var _ = synctest.Wait
