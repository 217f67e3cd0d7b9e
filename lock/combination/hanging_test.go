package combination_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/internal/several/severaltest"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/combination"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// freeze has those nodes hang, for all those members, until the end of that is asked for.
func freeze(t *testing.T, nodes []int, all ...*member) (thaw func()) {
	t.Helper()
	for _, m := range all {
		for _, n := range nodes {
			m.lines[n-1].Freeze()
		}
	}
	return func() {
		for _, m := range all {
			for _, n := range nodes {
				m.lines[n-1].Thaw()
			}
		}
	}
}

// TestRefusingNodeHangsAtTheRelease: two nodes of four have refused who waits, and hang when the lock is released. The
// other two, which the holder had not taken at first, tell of it.
func TestRefusingNodeHangsAtTheRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := severaltest.NewServers(4)
		long := &combination.Options{Lock: lock.Options{TTL: time.Hour}}
		a, b := join(t, nodes, long), join(t, nodes, long)
		mustUnlock(t, mustLock(t, b, "warm up"))
		mustUnlock(t, mustLock(t, a, "warm up"))
		a.down(1, 2)
		lease := mustLock(t, a, "a") // at nodes 3 and 4
		next := make(chan *lock.Lease, 1)
		go func() { next <- mustLock(t, b, "a") }()
		pass(50 * time.Millisecond)
		a.up(1, 2)
		pass(3 * time.Second)
		wantEqual(t, "nodes that have it", lease.Spread().Held, 4)
		defer freeze(t, []int{3, 4}, a, b)()
		if err := lease.Unlock(context.Background()); !lock.MaybeApplied(err) {
			t.Errorf("unlock, while two nodes hang that have it: %v", err)
		}
		released := time.Now()
		mustUnlock(t, <-next)
		wantWithin(t, "the one who waits has it", released, time.Second)
	})
}

// TestGivenUpBehindANodeThatHangs: a request is refused at the last node. What was taken at the second one, whose
// answer was late, is given back after the first one, which hangs.
func TestGivenUpBehindANodeThatHangs(t *testing.T) {
	three(t, func(t *testing.T, nodes severaltest.Servers) {
		long := &combination.Options{NodeTimeout: 20 * time.Millisecond, Lock: lock.Options{TTL: time.Hour}}
		a := join(t, nodes, long)
		mustUnlock(t, mustLock(t, a, "warm up"))
		if _, err := nodes[2].Client().Acquire(t.Context(), request("c:1", 20*time.Second)); err != nil {
			t.Fatal(err)
		}
		defer freeze(t, []int{1}, a)()
		a.lines[1].Fail(bedrocktest.Acquire, bedrocktest.Fault{Linger: 25 * time.Millisecond})
		a.lines[2].Fail(bedrocktest.Acquire, bedrocktest.Fault{Delay: 3 * time.Millisecond})
		_, err := a.Mutex("a", nil).TryLock(t.Context())
		wantErr(t, err, lock.ErrHeld)
		pass(2 * time.Second)
		wantEqual(t, "holder at node 2, two seconds later", nodes[1].Holders()["a"], "")
	})
}

// TestLookingOutlastsItsContext: the first node hangs, for longer than the caller's context lasts.
func TestLookingOutlastsItsContext(t *testing.T) {
	for name, look := range map[string]func(ctx context.Context, m *member) error{
		"inspect": func(ctx context.Context, m *member) error { _, err := m.Inspect(ctx, "a"); return err },
		"list":    func(ctx context.Context, m *member) error { _, err := m.List(ctx, "", 10); return err },
		"force":   func(ctx context.Context, m *member) error { _, err := m.ForceRelease(ctx, "z"); return err },
		"check":   func(ctx context.Context, m *member) error { _, err := m.Check(ctx); return err },
	} {
		t.Run(name, func(t *testing.T) {
			three(t, func(t *testing.T, nodes severaltest.Servers) {
				a := join(t, nodes, &combination.Options{NodeTimeout: 2 * time.Second})
				mustLock(t, a, "a")
				defer freeze(t, []int{1}, a)()
				mustUnlock(t, mustLock(t, a, "b")) // it finds out that the node hangs
				ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
				defer cancel()
				began := time.Now()
				if err := look(ctx, a); err != nil {
					t.Errorf("two nodes of three answer: %v", err)
				}
				wantWithin(t, name, began, 60*time.Millisecond)
			})
		})
	}
}

// TestEverythingOutlastsItsContext while all nodes hang. What was given back meanwhile is not left at any of them.
func TestEverythingOutlastsItsContext(t *testing.T) {
	three(t, func(t *testing.T, nodes severaltest.Servers) {
		b, lines := backendOf(t, nodes, &combination.Options{NodeTimeout: 2 * time.Second})
		defer b.Close()
		g, err := b.Acquire(t.Context(), request("a:1", time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		other := driver.Request{Name: "b", Owner: "b:1", TTL: time.Minute, Tokens: 1}
		ask := func(req driver.Request) func(ctx context.Context) error {
			return func(ctx context.Context) error { _, err := b.Acquire(ctx, req); return err }
		}
		thaw := freeze(t, []int{1, 2, 3}, &member{nil, lines})
		for _, c := range []struct {
			name string
			do   func(ctx context.Context) error
		}{
			{"acquire", ask(other)},
			{"acquire once more", ask(request("a:1", time.Minute))},
			{"renew", func(ctx context.Context) error { return b.Renew(ctx, []driver.Grant{g})[0] }},
			{"watch", func(ctx context.Context) error {
				_, err := b.(driver.Waiter).Watch(ctx, "a", driver.Mutex)
				return err
			}},
			{"release", func(ctx context.Context) error { _, err := b.Release(ctx, g); return err }},
			{"acquire, when it is known that they hang", ask(other)},
		} {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			began := time.Now()
			if err := c.do(ctx); err == nil {
				t.Errorf("%s: all nodes hang, and nothing is wrong", c.name)
			}
			wantWithin(t, c.name, began, 60*time.Millisecond)
			cancel()
			pass(3 * time.Second)
		}
		thaw()
		pass(time.Second)
		if _, err := b.Release(t.Context(), other.Ungranted()); err != nil {
			t.Errorf("release of what was asked for: %v", err)
		}
		wantNothingLeft(t, nodes, 10*time.Second)
	})
}
