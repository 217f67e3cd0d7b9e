package combination_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/internal/several/severaltest"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/combination"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// three runs a test with three nodes in virtual time.
func three(t *testing.T, test func(t *testing.T, nodes severaltest.Servers)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, severaltest.NewServers(3)) })
}

// pass lets time pass.
func pass(d time.Duration) { <-time.After(d) }

// member is a client, and its lines to the nodes, that can be made to fail.
type member struct {
	*lock.Client
	lines []*bedrocktest.Backend
}

// join makes a client of the nodes.
func join(t *testing.T, nodes severaltest.Servers, opts *combination.Options) *member {
	t.Helper()
	lines, backends := nodes.Connect()
	return memberOf(t, lines, backends, opts)
}

// memberOf makes a client of backends behind which those lines are.
func memberOf(
	t *testing.T, lines []*bedrocktest.Backend, backends []driver.Backend, opts *combination.Options,
) *member {
	t.Helper()
	var quiet combination.Options
	if opts != nil {
		quiet = *opts
	}
	quiet.Lock.Logger = slog.New(slog.DiscardHandler)
	locks, err := combination.New(backends, &quiet)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := locks.Stop(ctx); err != nil && !lock.MaybeApplied(err) && !errors.Is(err, driver.ErrUnavailable) {
			t.Errorf("stop: %v", err)
		}
	})
	return &member{locks, lines}
}

// down cuts the client off from those nodes.
func (m *member) down(nodes ...int) {
	for _, n := range nodes {
		m.lines[n-1].Down()
	}
}

// up ends that.
func (m *member) up(nodes ...int) {
	for _, n := range nodes {
		m.lines[n-1].Up()
	}
}

func mustLock(t *testing.T, locks *member, name string) *lock.Lease {
	t.Helper()
	lease, err := locks.Mutex(name, nil).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

// mustKeep takes a lock that is kept for a while after Unlock.
func mustKeep(t *testing.T, locks *member, name string, ttl, minHold time.Duration) *lock.Lease {
	t.Helper()
	lease, err := locks.Mutex(name, &lock.MutexOptions{TTL: ttl, MinHold: minHold}).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

func mustUnlock(t *testing.T, lease *lock.Lease) {
	t.Helper()
	if err := lease.Unlock(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// wantFreeNow fails the test unless a lock can be had at once.
func wantFreeNow(t *testing.T, m *member, name, when string) {
	t.Helper()
	lease, err := m.Mutex(name, nil).TryLock(t.Context())
	if err != nil {
		t.Errorf("%s: %v", when, err)
		return
	}
	mustUnlock(t, lease)
}

// wantHeld fails the test if a lease was lost.
func wantHeld(t *testing.T, lease *lock.Lease, when string) {
	t.Helper()
	if lease.State() != lock.Held {
		t.Errorf("%s: the lease is %s, on %+v: %v", when, lease.State(), lease.Spread(), lease.Err())
	}
}

// wantWithin fails the test if it took longer.
func wantWithin(t *testing.T, what string, began time.Time, most time.Duration) {
	t.Helper()
	if took := time.Since(began); took > most {
		t.Errorf("%s: took %s, want %s at most", what, took, most)
	}
}

// wantErr fails the test unless err matches target, and says all of that.
func wantErr(t *testing.T, err, target error, parts ...string) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("error is %v, want %v", err, target)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not say %q", err, part)
		}
	}
}

// wantEqual fails the test unless got is want.
func wantEqual[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// wantNothingLeft fails the test if anybody has anything at any node soon.
func wantNothingLeft(t *testing.T, nodes severaltest.Servers, within time.Duration) {
	t.Helper()
	pass(within)
	for i, n := range nodes {
		if left := n.Holders(); len(left) > 0 {
			t.Errorf("left at node %d: %+v", i+1, left)
		}
	}
}
