package quorum_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/internal/several/severaltest"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/quorum"
)

// lateNode is a node to which the first request for "a" comes late: its caller has an error at once.
type lateNode struct {
	*bedrocktest.Backend
	late  time.Duration
	asked atomic.Bool
}

// Acquire implements [driver.Backend].
func (n *lateNode) Acquire(ctx context.Context, req driver.Request) (driver.Grant, error) {
	if req.Name != "a" || n.asked.Swap(true) {
		return n.Backend.Acquire(ctx, req)
	}
	go func() {
		pass(n.late)
		_, _ = n.Backend.Acquire(context.WithoutCancel(ctx), req) // nobody hears of it
	}()
	return driver.Grant{}, bedrocktest.ErrReplyLost
}

// TestLateRequestOutlivesARefusal: two nodes of three are asked again, and refuse, before the first request comes
// there. It was given up by then.
func TestLateRequestOutlivesARefusal(t *testing.T) {
	several(t, 3, func(t *testing.T, nodes severaltest.Servers) {
		opts := &quorum.Options{Lock: lock.Options{TTL: time.Hour}}
		a := join(t, nodes, opts)
		lines, backends := nodes.Connect()
		for i := range backends[:2] {
			backends[i] = &lateNode{Backend: lines[i], late: 300 * time.Millisecond}
		}
		b := memberOf(t, lines, backends, opts)
		mustUnlock(t, mustLock(t, b, "other"))
		lease := mustLock(t, a, "a")
		_, err := b.Mutex("a", &lock.MutexOptions{Wait: 100 * time.Millisecond}).Lock(t.Context())
		wantErr(t, err, lock.ErrHeld)
		pass(50 * time.Millisecond)
		mustUnlock(t, lease)
		wantNothingLeft(t, nodes, 10*time.Second)
		wantFreeNow(t, a, "a", "ten seconds after everybody gave it back")
	})
}

// TestRevivedByLateVotes: votes that are sought in time come to their nodes when the grant has run out, and others have
// had the lock.
func TestRevivedByLateVotes(t *testing.T) {
	five(t, func(t *testing.T, nodes severaltest.Servers) {
		const ttl = 200 * time.Millisecond
		opts := &quorum.Options{Lock: lock.Options{TTL: ttl}}
		lines, backends := nodes.Connect()
		a, err := quorum.NewBackend(backends, opts)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		b := join(t, nodes, opts)
		warm := mustAcquire(t, a, "w", "w:1", ttl)
		if _, err := a.Release(t.Context(), warm); err != nil {
			t.Fatal(err)
		}
		mustUnlock(t, mustLock(t, b, "w"))
		pass(time.Second)
		for _, l := range lines[3:] {
			l.Fail(bedrocktest.Acquire, bedrocktest.Fault{Before: driver.ErrUnavailable},
				bedrocktest.Fault{Delay: ttl + 10*time.Millisecond})
		}
		g := mustAcquire(t, a, "a", "a:1", ttl)
		pass(150 * time.Millisecond)
		lines[2].Down()
		if err := a.Renew(t.Context(), []driver.Grant{g})[0]; err == nil {
			t.Error("two votes were renewed, and that is enough")
		}
		lines[2].Up()
		pass(52 * time.Millisecond)
		other := mustLock(t, b, "a")
		mustUnlock(t, other)
		pass(20 * time.Millisecond) // the votes come at 220 ms
		if err := a.Renew(t.Context(), []driver.Grant{g})[0]; err == nil {
			t.Errorf("token %d goes on, and %d was given out meanwhile", g.Token, other.Token())
		}
	})
}

// mustAcquire asks a backend for a lock.
func mustAcquire(t *testing.T, b driver.Backend, name, owner string, ttl time.Duration) driver.Grant {
	t.Helper()
	g, err := b.Acquire(t.Context(), driver.Request{Name: name, Owner: owner, TTL: ttl, Tokens: 1})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestAskedForAgainWhileGivenBack: one owner asks once more, and gives back, at the same time.
func TestAskedForAgainWhileGivenBack(t *testing.T) {
	several(t, 3, func(t *testing.T, nodes severaltest.Servers) {
		_, backends := nodes.Connect()
		b, err := quorum.NewBackend(backends, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		for i := range 100 {
			req := driver.Request{Name: "a", Owner: fmt.Sprint("o:", i), TTL: time.Hour, Tokens: 1}
			g := mustAcquire(t, b, req.Name, req.Owner, req.TTL)
			var group sync.WaitGroup
			group.Go(func() { _, _ = b.Acquire(t.Context(), req) }) // it may be too late for that
			group.Go(func() { _, _ = b.Release(t.Context(), g) })
			group.Wait()
			_, _ = b.Release(t.Context(), g) // there may be nothing any more
			wantNothingLeft(t, nodes, 10*time.Second)
		}
	})
}
