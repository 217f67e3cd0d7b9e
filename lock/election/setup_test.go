package election_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/election"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

var errUnavailable = driver.ErrUnavailable

// open returns a client that is stopped at the end of the test.
func open(t *testing.T, backend driver.Backend, opts *lock.Options) *lock.Client {
	t.Helper()
	locks, err := lock.New(backend, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, locks) })
	return locks
}

func stop(t *testing.T, locks *lock.Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := locks.Stop(ctx); err != nil {
		t.Errorf("stop: %v", err)
	}
}

// process is one of those that use a store.
type process struct {
	backend *bedrocktest.Backend
	locks   *lock.Client
}

// processes returns some that use one store.
func processes(t *testing.T, n int) []process {
	t.Helper()
	store := memlock.NewStore(nil)
	all := make([]process, n)
	for i := range all {
		all[i].backend = bedrocktest.NewBackend(memlock.NewBackend(store))
		all[i].locks = open(t, all[i].backend, nil)
	}
	return all
}

// election returns that of the name "job".
func (p process) election(opts *election.Options) *election.Election {
	return election.New(p.locks, "job", opts)
}

// campaign wins, or fails the test.
func campaign(t *testing.T, e *election.Election) *election.Term {
	t.Helper()
	term, err := e.Campaign(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return term
}

// campaignLater campaigns in a goroutine of its own.
func campaignLater(t *testing.T, e *election.Election) <-chan *election.Term {
	t.Helper()
	won := make(chan *election.Term, 1)
	go func() {
		term, err := e.Campaign(t.Context())
		if err != nil {
			t.Error(err)
		}
		won <- term
	}()
	return won
}

func resign(t *testing.T, term *election.Term) {
	t.Helper()
	if err := term.Resign(t.Context()); err != nil {
		t.Error(err)
	}
}

// wantErr fails the test unless err matches target.
func wantErr(t *testing.T, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("error is %v, want %v", err, target)
	}
}

// wantCause fails the test unless ctx has ended with that cause.
func wantCause(t *testing.T, ctx context.Context, cause error) { //nolint:revive // t comes first in tests
	t.Helper()
	if ctx.Err() == nil {
		t.Error("the context has not ended")
		return
	}
	wantErr(t, context.Cause(ctx), cause)
}

// pass lets virtual time pass.
func pass(d time.Duration) { <-time.After(d) }
