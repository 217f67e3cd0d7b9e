package quorum_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/several/severaltest"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/quorum"
)

func TestBadOptions(t *testing.T) {
	for _, tt := range []struct {
		nodes int
		opts  quorum.Options
		want  string
	}{
		{0, quorum.Options{}, "nodes: are 0, allowed are 3 to 64"},
		{2, quorum.Options{Majority: 2}, "nodes: are 2, allowed are 3 to 64"},
		{65, quorum.Options{}, "nodes: are 65, allowed are 3 to 64"},
		{4, quorum.Options{}, "majority: must be said for an even number of nodes: 3 of 4 at least"},
		{4, quorum.Options{Majority: 2}, "majority: is 2, allowed are 3 to 4 of 4 nodes"},
		{5, quorum.Options{Majority: 2}, "majority: is 2, allowed are 3 to 5 of 5 nodes"},
		{5, quorum.Options{Majority: -1}, "majority: is -1, allowed are 3 to 5 of 5 nodes"},
		{5, quorum.Options{Majority: 6}, "majority: is 6, allowed are 3 to 5 of 5 nodes"},
		{5, quorum.Options{Surplus: -1}, "surplus: is -1, allowed are 0 to 2: there are 5 nodes"},
		{5, quorum.Options{Surplus: 3}, "surplus: is 3, allowed are 0 to 2: there are 5 nodes"},
		{5, quorum.Options{Majority: 4, Surplus: 4}, "surplus: is 4, allowed are 0 to 3: there are 5 nodes"},
		{3, quorum.Options{Quarantine: -2}, "quarantine: is -2ns, allowed are 0 to "},
		{3, quorum.Options{Quarantine: lock.MaxTTL + 1}, "quarantine: is "},
		{3, quorum.Options{Quarantine: 30}, "quarantine: is 30ns, the least is 1ms"},
		{3, quorum.Options{Quarantine: time.Second}, "quarantine: is 1s, the least is the TTL, 30s"},
		{
			3,
			quorum.Options{Quarantine: 30 * time.Second, Lock: lock.Options{TTL: time.Minute}},
			"quarantine: is 30s, the least is the TTL, 1m0s",
		},
		{3, quorum.Options{Lock: lock.Options{TTL: 1}}, "ttl: is 1ns"},
		{3, quorum.Options{Lock: lock.Options{Patience: 1}}, "patience: is 1ns"},
	} {
		_, backends := severaltest.NewServers(tt.nodes).Connect()
		locks, err := quorum.New(backends, &tt.opts)
		if _, wrong := errors.AsType[*lock.InvalidError](err); !wrong || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%d nodes, %+v: %v, want %s", tt.nodes, tt.opts, err, tt.want)
		}
		if locks != nil {
			t.Errorf("%d nodes, %+v: there is a client", tt.nodes, tt.opts)
		}
	}
}

func TestGoodOptionsAreRefused(t *testing.T) {
	for nodes, opts := range map[int]*quorum.Options{
		3: nil, 4: {Majority: 4}, 5: {Surplus: 2}, 6: {Majority: 4, Surplus: 3},
		7: {Majority: 7, Surplus: 6, Quarantine: time.Millisecond}, 64: {Majority: 33, Quarantine: -1},
	} {
		_, backends := severaltest.NewServers(nodes).Connect()
		b, err := quorum.NewBackend(backends, opts)
		if err != nil {
			t.Fatalf("%d nodes, %+v: %v", nodes, opts, err)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestNodeIsThereTwice is what two votes of one store come to.
func TestNodeIsThereTwice(t *testing.T) {
	_, backends := severaltest.NewServers(5).Connect()
	for what, nodes := range map[string][]driver.Backend{
		"nodes: number 3 is number 1 once more": {backends[0], backends[1], backends[0]},
		"nodes: number 2 is nil":                {backends[0], nil, backends[1]},
	} {
		_, err := quorum.NewBackend(nodes, nil)
		if !errors.Is(err, lock.ErrInvalid) || !strings.HasPrefix(err.Error(), what) {
			t.Errorf("%v, want %s", err, what)
		}
	}
}

// TestNodeWithoutAVoteIsTaken: it would refuse every request, long after it was chosen.
func TestNodeWithoutAVoteIsTaken(t *testing.T) {
	_, backends := severaltest.NewServers(3).Connect()
	inner, err := quorum.NewBackend(backends, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = inner.Close() })
	_, others := severaltest.NewServers(3).Connect()
	others[1] = inner
	locks, err := quorum.New(others, nil)
	if want := "nodes: number 2 has no vote: "; !errors.Is(err, lock.ErrInvalid) ||
		!strings.HasPrefix(err.Error(), want) || locks != nil {
		t.Errorf("%v, want %s", err, want)
	}
}
