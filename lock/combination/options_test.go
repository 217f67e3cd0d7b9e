package combination_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/internal/several/severaltest"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/combination"
	"github.com/bedrock-go/bedrock/lock/driver"
)

func TestBadOptions(t *testing.T) {
	for _, tt := range []struct {
		nodes int
		opts  combination.Options
		want  string
	}{
		{0, combination.Options{}, "nodes: are 0, allowed are 2 to 16"},
		{1, combination.Options{MinNodes: 1}, "nodes: are 1, allowed are 2 to 16"},
		{17, combination.Options{}, "nodes: are 17, allowed are 2 to 16"},
		{3, combination.Options{NodeTimeout: 5}, "nodeTimeout: is 5ns, allowed are 1ms to 1m0s"},
		{3, combination.Options{NodeTimeout: -time.Second}, "nodeTimeout: is -1s, allowed are 1ms to 1m0s"},
		{3, combination.Options{NodeTimeout: time.Hour}, "nodeTimeout: is 1h0m0s, allowed are 1ms to 1m0s"},
		{3, combination.Options{Retry: 15}, "retry: is 15ns, the least is 1ms"},
		{3, combination.Options{Retry: -time.Minute}, "retry: is -1m0s, the least is 1ms"},
		{3, combination.Options{MinNodes: -1}, "minNodes: is -1, allowed are 1 to 3: there are 3 nodes"},
		{3, combination.Options{MinNodes: 4}, "minNodes: is 4, allowed are 1 to 3: there are 3 nodes"},
		{3, combination.Options{AcquireTimeout: -1}, "acquireTimeout: is -1ns, the least is nodeTimeout, 5ms"},
		{
			3,
			combination.Options{NodeTimeout: time.Second, AcquireTimeout: 999 * time.Millisecond},
			"acquireTimeout: is 999ms, the least is nodeTimeout, 1s",
		},
		{3, combination.Options{Lock: lock.Options{TTL: 1}}, "ttl: is 1ns"},
		{3, combination.Options{Lock: lock.Options{Patience: 1}}, "patience: is 1ns"},
	} {
		_, backends := severaltest.NewServers(tt.nodes).Connect()
		locks, err := combination.New(backends, &tt.opts)
		if _, wrong := errors.AsType[*lock.InvalidError](err); !wrong || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%d nodes, %+v: %v, want %s", tt.nodes, tt.opts, err, tt.want)
		}
		if locks != nil {
			t.Errorf("%d nodes, %+v: there is a client", tt.nodes, tt.opts)
		}
	}
}

func TestGoodOptionsAreRefused(t *testing.T) {
	for nodes, opts := range map[int]*combination.Options{
		2: nil, 3: {MinNodes: 1, NodeTimeout: time.Minute}, 4: {MinNodes: 4, Retry: time.Millisecond},
		16: {AcquireTimeout: 5 * time.Millisecond},
	} {
		_, backends := severaltest.NewServers(nodes).Connect()
		b, err := combination.NewBackend(backends, opts)
		if err != nil {
			t.Fatalf("%d nodes, %+v: %v", nodes, opts, err)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestNodeIsThereTwice by the same backend.
func TestNodeIsThereTwice(t *testing.T) {
	_, backends := severaltest.NewServers(2).Connect()
	for what, nodes := range map[string][]driver.Backend{
		"nodes: number 3 is number 2 once more": {backends[0], backends[1], backends[1]},
		"nodes: number 1 is nil":                {nil, backends[1]},
	} {
		_, err := combination.NewBackend(nodes, nil)
		if !errors.Is(err, lock.ErrInvalid) || !strings.HasPrefix(err.Error(), what) {
			t.Errorf("%v, want %s", err, what)
		}
	}
}

// TestTwoNodesAreOneStore under two addresses.
func TestTwoNodesAreOneStore(t *testing.T) {
	three(t, func(t *testing.T, nodes severaltest.Servers) {
		nodes[2] = nodes[0]
		locks := join(t, nodes, nil)
		_, err := locks.Mutex("a", nil).Lock(t.Context())
		wantErr(t, err, driver.ErrRefused, "nodes 1 and 3 are one store")
		wantNothingLeft(t, nodes, time.Second)
	})
}

// placed is a node whose names are in a place of their own.
type placed struct {
	*bedrocktest.Backend

	place string
}

// Identity implements [driver.Identifier].
func (p *placed) Identity(ctx context.Context) (string, error) {
	who, err := p.Backend.Identity(ctx)
	return driver.IdentityIn(who, p.place), err
}

// TestTwoPlacesAreTwoStores: they are lost together.
func TestTwoPlacesAreTwoStores(t *testing.T) {
	three(t, func(t *testing.T, nodes severaltest.Servers) {
		nodes[2] = nodes[0]
		lines, backends := nodes.Connect()
		backends[0], backends[2] = &placed{lines[0], "a/"}, &placed{lines[2], "b/"}
		_, err := memberOf(t, lines, backends, nil).Mutex("a", nil).Lock(t.Context())
		wantErr(t, err, driver.ErrRefused, "nodes 1 and 3 are one store")
	})
}

// TestNodeWithoutAVoteIsTaken: it would refuse every request, long after it was chosen.
func TestNodeWithoutAVoteIsTaken(t *testing.T) {
	_, backends := severaltest.NewServers(3).Connect()
	inner, err := combination.NewBackend(backends, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = inner.Close() })
	_, others := severaltest.NewServers(3).Connect()
	others[1] = inner
	locks, err := combination.New(others, nil)
	if want := "nodes: number 2 has no vote: "; !errors.Is(err, lock.ErrInvalid) ||
		!strings.HasPrefix(err.Error(), want) || locks != nil {
		t.Errorf("%v, want %s", err, want)
	}
}
