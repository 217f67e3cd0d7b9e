package combination_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/several/severaltest"
	"github.com/bedrock-go/bedrock/lock/combination"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// raise makes a node's counter as high as that.
func raise(t *testing.T, node *severaltest.Server, token uint64) {
	t.Helper()
	b := node.Client()
	req := driver.Request{Name: "raised", Owner: "raiser:1", TTL: time.Minute, Tokens: 1, Above: token - 1}
	g, err := b.Acquire(t.Context(), req)
	if err == nil {
		_, err = b.Release(t.Context(), g)
	}
	if err != nil || g.Token != token {
		t.Fatalf("token %d, want %d: %v", g.Token, token, err)
	}
}

// TestTokenGoesBackWithOtherNodes: the nodes' counters are far apart, and each holder has other nodes than the one
// before; one of them is the same.
func TestTokenGoesBackWithOtherNodes(t *testing.T) {
	sets := [][]int{{1}, {2}, {3}, {1, 2}, {1, 3}, {2, 3}, {1, 2, 3}}
	for _, first := range sets {
		for _, second := range sets {
			if !slices.ContainsFunc(first, func(n int) bool { return slices.Contains(second, n) }) {
				continue
			}
			three(t, func(t *testing.T, nodes severaltest.Servers) {
				a, b := joinWithOne(t, nodes), joinWithOne(t, nodes)
				base := uint64(time.Now().UnixMicro()) + 1_000_000_000_000
				for i, n := range nodes {
					raise(t, n, base+uint64((2*i%3)*1_000_000_000)) // in no order
				}
				what := fmt.Sprintf("nodes %v, then %v", first, second)
				before := tokenOf(t, nodes, a, first, what)
				for _, m := range []*member{b, a, b} {
					after := tokenOf(t, nodes, m, second, what)
					if after <= before {
						t.Errorf("%s: token %d after %d", what, after, before)
					}
					before = after
				}
			})
		}
	}
}

// joinWithOne makes a client that begins with a single node, too.
func joinWithOne(t *testing.T, nodes severaltest.Servers) *member {
	t.Helper()
	return join(t, nodes, &combination.Options{MinNodes: 1, Retry: time.Millisecond})
}

// tokenOf takes the lock at some nodes and gives it back. All of them have its token then, which none had before.
func tokenOf(t *testing.T, nodes severaltest.Servers, locks *member, at []int, what string) uint64 {
	t.Helper()
	newest := uint64(0)
	for i := range nodes {
		if slices.Contains(at, i+1) {
			locks.up(i + 1)
			newest = max(newest, nodes[i].Newest("a"))
		} else {
			locks.down(i + 1)
		}
	}
	for range 2 { // to find out who is there
		pass(time.Second)
		mustUnlock(t, mustLock(t, locks, fmt.Sprint("other ", what)))
	}
	pass(time.Second)
	for i := range at { // the rightmost last, so that none before it knows
		newest = max(newest, nodes[at[i]-1].Newest("raised"), uint64(time.Now().UnixMicro())) + 1_000_000_000
		raise(t, nodes[at[i]-1], newest)
	}
	lease := mustLock(t, locks, "a")
	wantEqual(t, what+": nodes", lease.Spread().Held, len(at))
	if lease.Token() <= newest {
		t.Errorf("%s: token %d, the newest was %d", what, lease.Token(), newest)
	}
	for _, n := range at {
		if nodes[n-1].Newest("a") < lease.Token() {
			t.Errorf("%s: node %d does not know of token %d", what, n, lease.Token())
		}
	}
	mustUnlock(t, lease)
	return lease.Token()
}
