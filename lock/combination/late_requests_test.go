package combination_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/internal/several/severaltest"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/combination"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// lateNode is a node to which one request for "a" comes late, the first one or another: its caller has an error at
// once.
type lateNode struct {
	*bedrocktest.Backend
	which int32
	late  time.Duration
	asked atomic.Int32
}

// Acquire implements [driver.Backend].
func (n *lateNode) Acquire(ctx context.Context, req driver.Request) (driver.Grant, error) {
	if req.Name != "a" || n.asked.Add(1) != n.which {
		return n.Backend.Acquire(ctx, req)
	}
	go func() {
		pass(n.late)
		_, _ = n.Backend.Acquire(context.WithoutCancel(ctx), req) // nobody hears of it
	}()
	return driver.Grant{}, bedrocktest.ErrReplyLost
}

// TestLateRequestOutlivesItsLoss: a renewal finds that the node does not have the lock; the request comes after that,
// and after the release.
func TestLateRequestOutlivesItsLoss(t *testing.T) {
	three(t, func(t *testing.T, nodes severaltest.Servers) {
		lines, backends := nodes.Connect()
		backends[0] = &lateNode{Backend: lines[0], which: 1, late: 400 * time.Millisecond}
		a, err := combination.NewBackend(backends, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		g, err := a.Acquire(t.Context(), request("a:1", time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		pass(100 * time.Millisecond)
		if err := a.Renew(t.Context(), []driver.Grant{g})[0]; err != nil {
			t.Errorf("two nodes of three have it: %v", err)
		}
		pass(time.Millisecond)
		if _, err := a.Release(t.Context(), g); err != nil {
			t.Errorf("release: %v", err)
		}
		wantNothingLeft(t, nodes, 10*time.Second)
	})
}

// TestLateRequestForAHigherTokenOutlivesTheRelease: a node has given its vote, and is asked once more, for the token of
// another node. That comes after the lock was given back.
func TestLateRequestForAHigherTokenOutlivesTheRelease(t *testing.T) {
	three(t, func(t *testing.T, nodes severaltest.Servers) {
		long := &combination.Options{Lock: lock.Options{TTL: time.Hour}}
		b := join(t, nodes, long)
		lines, backends := nodes.Connect()
		late := &lateNode{Backend: lines[0], which: 2, late: 250 * time.Millisecond}
		backends[0] = late
		a := memberOf(t, lines, backends, long)
		mustUnlock(t, mustLock(t, a, "warm up"))
		mustUnlock(t, mustLock(t, b, "warm up"))
		ahead := nodes[2].Client() // its counter is a second ahead
		g, err := ahead.Acquire(t.Context(), driver.Request{
			Name: "x", Owner: "x:1", TTL: time.Minute, Tokens: 1, Above: uint64(time.Now().UnixMicro()) + 1_000_000,
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ahead.Release(t.Context(), g); err != nil {
			t.Fatal(err)
		}
		mustUnlock(t, mustLock(t, a, "a"))
		if late.asked.Load() < 2 {
			t.Fatal("no node was asked for a higher token")
		}
		wantNothingLeft(t, nodes, 10*time.Second)
		wantFreeNow(t, b, "a", "ten seconds after Unlock")
	})
}
