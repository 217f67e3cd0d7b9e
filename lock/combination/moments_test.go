package combination_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/internal/several/severaltest"
	"github.com/bedrock-go/bedrock/internal/timelimit"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/combination"
	"github.com/bedrock-go/bedrock/lock/driver"
)

func request(owner string, ttl time.Duration) driver.Request {
	return driver.Request{Name: "a", Owner: owner, TTL: ttl, Tokens: 1}
}

func backendOf(
	t *testing.T, nodes severaltest.Servers, opts *combination.Options,
) (driver.Backend, []*bedrocktest.Backend) {
	t.Helper()
	lines, backends := nodes.Connect()
	b, err := combination.NewBackend(backends, opts)
	if err != nil {
		t.Fatal(err)
	}
	return b, lines
}

// hooked is a node; before is called in the moment before it is asked next.
type hooked struct {
	*bedrocktest.Backend

	before func()
}

func (h *hooked) Acquire(ctx context.Context, req driver.Request) (driver.Grant, error) {
	if before := h.before; before != nil {
		h.before = nil
		before()
	}
	return h.Backend.Acquire(ctx, req)
}

// TestTwoHoldersAfterACallerThatLeft: a caller leaves in the moment before a node is asked, which says that it has
// done nothing. Seconds later its client leaves that node out, although no node has ever failed it. Another client
// loses the other node on its way, and two have the lock. Both would have met at the first node.
func TestTwoHoldersAfterACallerThatLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := severaltest.NewServers(2)
		lines, _ := nodes.Connect()
		first := &hooked{Backend: lines[0]}
		a, err := combination.New([]driver.Backend{first, lines[1]}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Stop(context.Background())
		b := join(t, nodes, nil)
		pass(time.Hour)

		ctx, cancel := context.WithCancel(t.Context())
		first.before = cancel
		_, err = a.Mutex("x", nil).Lock(ctx)
		t.Log(err)

		pass(5 * time.Second)
		one, err := a.Mutex("a", nil).TryLock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if on := one.Spread(); on.Held != 2 {
			t.Errorf("the first is on %d nodes of 2, and both answer", on.Held)
		}
		b.lines[1].Fail(bedrocktest.Acquire, bedrocktest.Fault{Before: driver.ErrUnavailable})
		two, err := b.Mutex("a", nil).TryLock(t.Context())
		if err == nil {
			t.Errorf("two holders: tokens %d and %d", one.Token(), two.Token())
			mustUnlock(t, two)
		}
		mustUnlock(t, one)
	})
}

// TestCancelledContextPutsANodeAway: the same for one client, at the backend.
func TestCancelledContextPutsANodeAway(t *testing.T) {
	three(t, func(t *testing.T, nodes severaltest.Servers) {
		b, _ := backendOf(t, nodes, nil)
		pass(time.Hour)
		defer b.Close()
		g, err := b.Acquire(t.Context(), request("o:0", time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		b.Release(t.Context(), g)
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = b.Acquire(gone, request("o:1", time.Minute))
		t.Log(err)
		pass(2 * time.Second)
		g, err = b.Acquire(t.Context(), request("o:2", time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		if held, n, _ := g.Handle.(driver.Spread).Spread(); held != n {
			t.Errorf("on %d nodes of %d, and all answer", held, n)
		}
		b.Release(t.Context(), g)
		pass(time.Second)
	})
}

// TestWatchThatFailedAtTheFirstNode: it fails once, and the release is never heard of.
func TestWatchThatFailedAtTheFirstNode(t *testing.T) {
	three(t, func(t *testing.T, nodes severaltest.Servers) {
		long := &combination.Options{Lock: lock.Options{TTL: time.Hour}}
		a, b := join(t, nodes, long), join(t, nodes, long)
		lease := mustLock(t, a, "a")
		b.lines[0].Fail(bedrocktest.Watch, bedrocktest.Fault{Before: driver.ErrUnavailable})
		next := make(chan *lock.Lease, 1)
		go func() { next <- mustLock(t, b, "a") }()
		pass(2 * time.Second)
		mustUnlock(t, lease)
		released := time.Now()
		mustUnlock(t, <-next)
		if took := time.Since(released); took > time.Second {
			t.Errorf("the one who waits had the lock %s after it was free", took)
		}
	})
}

// TestGivingUpOutlastsTheContext: the votes are given back to nodes that hang, whatever the caller's context says.
func TestGivingUpOutlastsTheContext(t *testing.T) {
	three(t, func(t *testing.T, nodes severaltest.Servers) {
		b, lines := backendOf(t, nodes, &combination.Options{NodeTimeout: 5 * time.Second})
		defer b.Close()
		if _, err := nodes[2].Client().Acquire(t.Context(), request("x:1", time.Minute)); err != nil {
			t.Fatal(err)
		}
		for _, l := range lines[:2] {
			l.Fail(bedrocktest.Release, bedrocktest.Fault{Delay: 4 * time.Second})
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		began := time.Now()
		_, err := b.Acquire(ctx, request("o:1", time.Minute))
		if took := time.Since(began); took > 300*time.Millisecond {
			t.Errorf("acquire returned %s after it began, the context had ended after 100ms: %v", took, err)
		}
		pass(20 * time.Second)
	})
}

// TestLimitOfACallIsNotKept: the front bounds its calls by a timelimit.Context.
func TestLimitOfACallIsNotKept(t *testing.T) {
	three(t, func(t *testing.T, nodes severaltest.Servers) {
		b, lines := backendOf(t, nodes, &combination.Options{NodeTimeout: 20 * time.Second})
		defer b.Close()
		bounded := func() (*timelimit.Context, func()) {
			limit, cancel := context.WithTimeout(t.Context(), time.Second)
			call := &timelimit.Context{}
			call.Begin(t.Context(), limit)
			return call, cancel
		}
		lines[1].Fail(bedrocktest.Acquire, bedrocktest.Fault{Delay: 15 * time.Second})
		call, cancel := bounded()
		began := time.Now()
		_, err := b.Acquire(call, request("o:1", time.Minute))
		if took := time.Since(began); took > 1200*time.Millisecond {
			t.Errorf("acquire returned after %s, its context had ended after 1s: %v", took, err)
		}
		cancel()
		pass(3 * time.Minute)
		g, err := b.Acquire(t.Context(), request("o:2", time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		lines[2].Fail(bedrocktest.Release, bedrocktest.Fault{Delay: 15 * time.Second})
		call, cancel = bounded()
		began = time.Now()
		_, err = b.Release(call, g)
		if took := time.Since(began); took > 1200*time.Millisecond {
			t.Errorf("release returned after %s, its context had ended after 1s: %v", took, err)
		}
		cancel()
		pass(time.Minute)
	})
}

// TestAskedAgainAtOnce: a request that was refused by the first node, and has nothing anywhere, is made again under
// the same owner, which the contract allows.
func TestAskedAgainAtOnce(t *testing.T) {
	nodes := severaltest.NewServers(3)
	a, _ := backendOf(t, nodes, nil)
	defer a.Close()
	b, _ := backendOf(t, nodes, nil)
	defer b.Close()
	for i := range 200 {
		g, err := a.Acquire(t.Context(), request("a:1"+strings.Repeat("1", i%50+1), time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		req := request("b:1"+strings.Repeat("1", i%50+1), time.Minute)
		if _, err := b.Acquire(t.Context(), req); err == nil {
			t.Fatal("twice")
		}
		if _, err := a.Release(t.Context(), g); err != nil {
			t.Fatal(err)
		}
		g, err = b.Acquire(t.Context(), req)
		if err != nil {
			t.Fatalf("round %d: free, and asked for again: %v", i, err)
		}
		b.Release(t.Context(), g)
	}
}

// TestLowTokenAtANodeOfAGrant: the node that gave a low token could not be asked for the one that was agreed on, and
// stays a node of the grant.
func TestLowTokenAtANodeOfAGrant(t *testing.T) {
	three(t, func(t *testing.T, nodes severaltest.Servers) {
		opts := &combination.Options{MinNodes: 1, Retry: time.Minute}
		a, b := join(t, nodes, opts), join(t, nodes, opts)
		ahead := nodes[2].Client()
		g, err := ahead.Acquire(t.Context(), driver.Request{
			Name: "raised", Owner: "r:1", TTL: time.Minute, Tokens: 1, Above: nodes[0].Newest("a") + 1_000_000_000_000,
		})
		if err != nil {
			t.Fatal(err)
		}
		ahead.Release(t.Context(), g)
		a.lines[0].FailCall(bedrocktest.Acquire, 2, bedrocktest.Fault{Before: driver.ErrUnavailable})
		one := mustLock(t, a, "a")
		pass(3 * time.Minute)
		if on := one.Spread(); on.Held != 3 {
			t.Fatalf("on %d", on.Held)
		}
		token := one.Token()
		mustUnlock(t, one)
		pass(time.Second)
		b.down(2, 3) // the first one was a node of both
		pass(time.Second)
		two := mustLock(t, b, "a")
		if two.Token() <= token {
			t.Errorf("token %d after %d, and the first node had both grants", two.Token(), token)
		}
		b.up(2, 3)
		mustUnlock(t, two)
	})
}

// TestInspectAfterAnOutage: nobody has asked for a lock since.
func TestInspectAfterAnOutage(t *testing.T) {
	three(t, func(t *testing.T, nodes severaltest.Servers) {
		a := join(t, nodes, nil)
		a.down(1, 2, 3)
		if _, err := a.Mutex("b", nil).TryLock(t.Context()); err == nil {
			t.Fatal("granted")
		}
		a.up(1, 2, 3)
		pass(24 * time.Hour)
		if _, err := a.Inspect(t.Context(), "a"); err != nil {
			t.Errorf("a day later: %v", err)
		}
	})
}

// TestMinHoldLeavesVotes: what a node that comes back is asked for lives for a whole TTL.
func TestMinHoldLeavesVotes(t *testing.T) {
	three(t, func(t *testing.T, nodes severaltest.Servers) {
		a, b := join(t, nodes, nil), join(t, nodes, nil)
		lease, err := a.Mutex("a", &lock.MutexOptions{TTL: time.Hour, MinHold: 4 * time.Second}).Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		pass(2 * time.Second)
		nodes[0].Restart()
		pass(time.Second)
		mustUnlock(t, lease)
		pass(100 * time.Millisecond)
		if err := a.Mutex("z", nil); err == nil {
			t.Fatal()
		}
		lease2, err := a.Mutex("y", nil).TryLock(t.Context())
		if err == nil {
			mustUnlock(t, lease2)
		}
		wantNothingLeft(t, nodes, 3*time.Second)
		next, err := b.Mutex("a", nil).TryLock(t.Context())
		if err != nil {
			t.Errorf("three seconds after the minimum hold time: %v", err)
		} else {
			mustUnlock(t, next)
		}
	})
}

// TestUnlockedAndHeld: the first node, which is there for everybody, has not released it, and Unlock says nothing. Its
// process ends in order, and nobody has the lock for a whole TTL.
func TestUnlockedAndHeld(t *testing.T) {
	three(t, func(t *testing.T, nodes severaltest.Servers) {
		long := &combination.Options{Lock: lock.Options{TTL: time.Hour}}
		a, b := join(t, nodes, long), join(t, nodes, long)
		lease := mustLock(t, a, "a")
		a.lines[0].Fail(bedrocktest.Release,
			bedrocktest.Fault{After: bedrocktest.ErrReplyLost, Before: bedrocktest.ErrReplyLost},
			bedrocktest.Fault{Before: driver.ErrUnavailable}, bedrocktest.Fault{Before: driver.ErrUnavailable},
			bedrocktest.Fault{Before: driver.ErrUnavailable}, bedrocktest.Fault{Before: driver.ErrUnavailable})
		unlocked := lease.Unlock(t.Context())
		stopped := a.Stop(t.Context())
		pass(time.Second)
		if _, err := b.Mutex("a", nil).TryLock(t.Context()); err != nil && unlocked == nil && stopped == nil {
			t.Errorf("Unlock and Stop have said nothing, and: %v", err)
		}
	})
}

// TestUnlockedAtANodeThatOthersReach: the client is cut off from the first node, and finds that out by the release
// itself. Others meet the lock there, so Unlock says that it may not be free, and it is when the node is reached again.
func TestUnlockedAtANodeThatOthersReach(t *testing.T) {
	three(t, func(t *testing.T, nodes severaltest.Servers) {
		long := &combination.Options{Lock: lock.Options{TTL: time.Hour}}
		a, b := join(t, nodes, long), join(t, nodes, long)
		mustUnlock(t, mustLock(t, b, "warm up"))
		lease := mustLock(t, a, "a")
		a.down(1)
		if err := lease.Unlock(context.Background()); !lock.MaybeApplied(err) || errors.Is(err, driver.ErrUnavailable) {
			t.Errorf("the first node has it still, and unlock said: %v", err)
		}
		_, err := b.Mutex("a", nil).TryLock(t.Context())
		wantErr(t, err, lock.ErrHeld)
		pass(time.Second)
		a.up(1)
		pass(3 * time.Second)
		wantFreeNow(t, b, "a", "three seconds after the node is back")
	})
}

// TestUnlockComplainsOfANodeThatIsLeftOut: the client knows by then that the first node does not answer, and does
// without it until it is back.
func TestUnlockComplainsOfANodeThatIsLeftOut(t *testing.T) {
	three(t, func(t *testing.T, nodes severaltest.Servers) {
		long := &combination.Options{Lock: lock.Options{TTL: time.Hour}}
		a, b := join(t, nodes, long), join(t, nodes, long)
		mustUnlock(t, mustLock(t, b, "warm up"))
		lease := mustLock(t, a, "a")
		a.down(1)
		mustUnlock(t, mustLock(t, a, "other"))
		mustUnlock(t, lease)
		pass(time.Second)
		a.up(1)
		pass(3 * time.Second)
		wantFreeNow(t, b, "a", "three seconds after the node is back")
	})
}
