package latch_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/latch"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open returns a client that is stopped at the end of the test.
func open(t *testing.T, backend driver.Backend) *lock.Client {
	t.Helper()
	locks, err := lock.New(backend, nil)
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

// latch returns that of the name "parts".
func (p process) latch(opts *latch.Options) *latch.Latch { return latch.New(p.locks, "parts", opts) }

// processes returns some that use one store.
func processes(t *testing.T, n int) []process {
	t.Helper()
	store := memlock.NewStore(nil)
	all := make([]process, n)
	for i := range all {
		all[i].backend = bedrocktest.NewBackend(memlock.NewBackend(store))
		all[i].locks = open(t, all[i].backend)
	}
	return all
}

func set(t *testing.T, l *latch.Latch, count int) {
	t.Helper()
	if is, err := l.Set(t.Context(), count); err != nil || !is {
		t.Fatalf("set: %t, %v", is, err)
	}
}

func countDown(t *testing.T, l *latch.Latch, left int) {
	t.Helper()
	if n, err := l.CountDown(t.Context()); err != nil || n != left {
		t.Errorf("%d are left, error %v; want %d", n, err, left)
	}
}

func wantCount(t *testing.T, l *latch.Latch, left int) {
	t.Helper()
	if n, err := l.Count(t.Context()); err != nil || n != left {
		t.Errorf("%d are left, error %v; want %d", n, err, left)
	}
}

// awaited is how an Await came to its end.
type awaited struct {
	err   error
	after time.Duration
}

// await has somebody wait in a goroutine of its own.
func await(ctx context.Context, l *latch.Latch) <-chan awaited {
	done := make(chan awaited, 1)
	began := time.Now()
	go func() {
		err := l.Await(ctx)
		done <- awaited{err, time.Since(began)}
	}()
	return done
}

// wantErr fails the test unless err matches target.
func wantErr(t *testing.T, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("error is %v, want %v", err, target)
	}
}

// wantUnknown fails the test unless the error says so whether it may have taken effect.
func wantUnknown(t *testing.T, err error, unknown bool) {
	t.Helper()
	if lock.MaybeApplied(err) != unknown {
		t.Errorf("it may have taken effect: %t; of: %v", !unknown, err)
	}
}

// pass lets virtual time pass.
func pass(d time.Duration) { <-time.After(d) }
