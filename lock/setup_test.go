package lock_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// virtual runs a test in virtual time: a pause of hours takes no time, and
// begins when every goroutine waits.
func virtual(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}

// open returns a client that is closed at the end of the test.
func open(t *testing.T, backend driver.Backend, opts *lock.Options) *lock.Client {
	t.Helper()
	locks, err := lock.New(backend, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeNow(t, locks) })
	return locks
}

// openMem returns a client of a new store in memory.
func openMem(t *testing.T, opts *lock.Options) *lock.Client {
	t.Helper()
	return open(t, memlock.NewBackend(nil), opts)
}

func closeNow(t *testing.T, locks *lock.Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := locks.Stop(ctx); err != nil {
		t.Errorf("close: %v", err)
	}
}

func mustLock(t *testing.T, m lock.Lockable) *lock.Lease {
	t.Helper()
	return mustLockIn(t, t.Context(), m)
}

//nolint:revive // t comes first in tests
func mustLockIn(t *testing.T, ctx context.Context, m lock.Lockable) *lock.Lease {
	t.Helper()
	lease, err := m.Lock(ctx)
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

// outcome is what a Lock in another goroutine came to.
type outcome struct {
	lease *lock.Lease
	err   error
	after time.Duration
}

// lockLater locks in a goroutine of its own and waits until that is parked.
//
//nolint:revive // t comes first in tests
func lockLater(t *testing.T, ctx context.Context, m lock.Lockable) <-chan outcome {
	t.Helper()
	done := make(chan outcome, 1)
	start := time.Now()
	go func() {
		lease, err := m.Lock(ctx)
		done <- outcome{lease, err, time.Since(start)}
	}()
	synctest.Wait()
	return done
}

// granted waits for a Lock in another goroutine, which must succeed.
func granted(t *testing.T, done <-chan outcome) *lock.Lease {
	t.Helper()
	got := <-done
	if got.err != nil {
		t.Fatal(got.err)
	}
	return got.lease
}

// wantErr fails the test unless err matches target.
func wantErr(t *testing.T, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("error is %v, want %v", err, target)
	}
}

// wantText fails the test unless the error says all of that.
func wantText(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Error("no error")
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not say %q", err, part)
		}
	}
}

// wantGrantTold checks the error of a wait that ended when the lock "a" had been granted.
func wantGrantTold(t *testing.T, other *lock.Client, err error) {
	t.Helper()
	info, failed := other.Inspect(t.Context(), "a")
	if err == nil || failed != nil || !info.Held() {
		t.Fatalf("not what this is about: %v, %v, held: %t", err, failed, info.Held())
	}
	if !lock.MaybeApplied(err) {
		t.Errorf("it has been granted, and MaybeApplied is false: %v", err)
	}
}

// wantEqual fails the test unless got is want.
func wantEqual[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
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

// wantBetween fails the test unless d lies in [least, most].
func wantBetween(t *testing.T, what string, d, least, most time.Duration) {
	t.Helper()
	if d < least || d > most {
		t.Errorf("%s took %s, want %s to %s", what, d, least, most)
	}
}
