package quorum_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/internal/several/severaltest"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/quorum"
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

// majorities are all sets of three nodes of five.
func majorities() (sets [][]int) {
	for i := 1; i <= 5; i++ {
		for j := i + 1; j <= 5; j++ {
			for k := j + 1; k <= 5; k++ {
				sets = append(sets, []int{i, j, k})
			}
		}
	}
	return sets
}

// only leaves a client those nodes.
func (m *member) only(nodes []int) {
	for n := range m.lines {
		if slices.Contains(nodes, n+1) {
			m.up(n + 1)
		} else {
			m.down(n + 1)
		}
	}
}

// TestNextMajorityGivesALowerToken: the nodes' counters are far apart, and who comes next has other nodes.
func TestNextMajorityGivesALowerToken(t *testing.T) {
	for _, first := range majorities() {
		for _, second := range majorities() {
			five(t, func(t *testing.T, nodes severaltest.Servers) {
				a, b := join(t, nodes, nil), join(t, nodes, nil)
				base := uint64(time.Now().UnixMicro()) + 1_000_000_000_000
				for i, n := range nodes {
					raise(t, n, base+uint64((7*i%5)*1_000_000_000)) // in no order
				}
				what := fmt.Sprintf("nodes %v, then %v", first, second)
				before := grantOf(t, nodes, a, first, what)
				if after := grantOf(t, nodes, b, second, what); after <= before {
					t.Errorf("%s: token %d after %d", what, after, before)
				}
			})
		}
	}
}

// grantOf takes the lock at some nodes and gives it back. Its token is the next one that none of them has given out,
// and all of them have it.
func grantOf(t *testing.T, nodes severaltest.Servers, locks *member, at []int, what string) uint64 {
	t.Helper()
	locks.only(at)
	pass(time.Second) // it asks those again that it could not reach
	newest := uint64(0)
	for _, n := range at {
		newest = max(newest, nodes[n-1].Newest("a"))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	lease, err := locks.Mutex("a", nil).Lock(ctx)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if lease.Token() != newest+1 {
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

// TestTokensRunOutUnderWay hands a lock on within a client, while every node is behind another one.
func TestTokensRunOutUnderWay(t *testing.T) {
	five(t, func(t *testing.T, nodes severaltest.Servers) {
		clients := []*member{join(t, nodes, nil), join(t, nodes, nil)}
		last := uint64(0)
		for round := range 200 {
			m := clients[round%2]
			m.only(majorities()[round%10])
			if round%20 == 0 {
				raise(t, nodes[round/20%5], max(last, uint64(time.Now().UnixMicro()))+1_000_000_000)
			}
			pass(200 * time.Millisecond)
			lease, err := m.Mutex("a", nil).Lock(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if lease.Token() <= last {
				t.Errorf("round %d: token %d after %d", round, lease.Token(), last)
			}
			last = lease.Token()
			mustUnlock(t, lease)
			pass(200 * time.Millisecond)
		}
	})
}

// TestGrantAskedForAgainHasOtherTokens: the answer was lost. Some nodes had given higher tokens, which nobody waited
// for.
func TestGrantAskedForAgainHasOtherTokens(t *testing.T) {
	five(t, func(t *testing.T, nodes severaltest.Servers) {
		lines, backends := nodes.Connect()
		b, err := quorum.NewBackend(backends, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		base := uint64(time.Now().UnixMicro())
		req := driver.Request{Name: "a", Owner: "owner:1", TTL: time.Minute, Tokens: 3}
		for _, slow := range majorities() { // among them sets whose nodes have given out more than others
			base += 1_000_000_000_000
			for i, n := range nodes {
				raise(t, n, base+uint64(2*i))
			}
			for _, n := range slow[1:] {
				lines[n-1].Fail(bedrocktest.Acquire, bedrocktest.Fault{Linger: time.Millisecond})
			}
			first, err := b.Acquire(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			pass(time.Second)
			for range 3 {
				again, err := b.Acquire(t.Context(), req)
				if err != nil || again.Token != first.Token || again.Tokens != first.Tokens {
					t.Errorf("%d tokens from %d, then %d from %d, %v",
						first.Tokens, first.Token, again.Tokens, again.Token, err)
				}
			}
			if _, err := b.Release(t.Context(), first); err != nil {
				t.Error(err)
			}
			req.Owner += "1"
			pass(time.Second)
		}
	})
}

// oneTokenLater is a node that remembers of what it gave only the last token, as a server does that counts.
type oneTokenLater struct {
	*bedrocktest.Backend
	given map[string]bool
}

func (n *oneTokenLater) Acquire(ctx context.Context, req driver.Request) (driver.Grant, error) {
	g, err := n.Backend.Acquire(ctx, req)
	if err == nil && n.given[req.Owner] {
		g.Token, g.Tokens = g.Token+uint64(g.Tokens)-1, 1
	}
	if err == nil {
		n.given[req.Owner] = true
	}
	return g, err
}

// TestRepeatedRequestHasOtherTokens: a request is repeated whose answer was lost, and it reaches a node that the first
// one has not reached.
func TestRepeatedRequestHasOtherTokens(t *testing.T) {
	five(t, func(t *testing.T, nodes severaltest.Servers) {
		lines, backends := nodes.Connect()
		m := &member{lines: lines}
		for i := range backends {
			backends[i] = &oneTokenLater{lines[i], make(map[string]bool)}
		}
		b, err := quorum.NewBackend(backends, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = b.Close() }()
		req := driver.Request{Name: "a", Owner: "me:1", TTL: time.Minute, Tokens: 3}
		m.only([]int{1, 2, 3})
		first, err := b.Acquire(t.Context(), req)
		if err != nil || first.Tokens != 3 {
			t.Fatalf("%+v: %v", first, err)
		}
		pass(5 * time.Second) // it looks for the votes that are missing
		m.only([]int{1, 2, 4})
		pass(5 * time.Second)
		again, err := b.Acquire(t.Context(), req)
		if err != nil || again.Token != first.Token || again.Tokens != first.Tokens {
			t.Errorf("%d tokens from %d, then %d from %d: %v",
				first.Tokens, first.Token, again.Tokens, again.Token, err)
		}
		if _, err := b.Release(t.Context(), again); err != nil {
			t.Error(err)
		}
	})
}
