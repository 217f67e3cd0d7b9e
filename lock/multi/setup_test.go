package multi_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
	"github.com/bedrock-go/bedrock/lock/multi"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// virtual runs a test in virtual time.
func virtual(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}

func open(t *testing.T, backend driver.Backend) *lock.Client {
	t.Helper()
	locks, err := lock.New(backend, &lock.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := locks.Stop(ctx); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	return locks
}

// clients returns so many clients of one store.
func clients(t *testing.T, n int) []*lock.Client {
	t.Helper()
	store := memlock.NewStore(nil)
	all := make([]*lock.Client, n)
	for i := range all {
		all[i] = open(t, memlock.NewBackend(store))
	}
	return all
}

// of returns mutexes of those names as one.
func of(locks *lock.Client, names ...string) *multi.Multi {
	members := make([]lock.Lockable, len(names))
	for i, name := range names {
		members[i] = locks.Mutex(name, nil)
	}
	return multi.New(members, nil)
}

func mustLock(t *testing.T, m *multi.Multi) *multi.Lease {
	t.Helper()
	lease, err := m.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

func mustUnlock(t *testing.T, lease interface{ Unlock(context.Context) error }) {
	t.Helper()
	if err := lease.Unlock(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// wantErr fails the test unless err matches target.
func wantErr(t *testing.T, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("error is %v, want %v", err, target)
	}
}

// wantHolders checks, name by name, who is held.
func wantHolders(t *testing.T, locks *lock.Client, held map[string]bool) {
	t.Helper()
	for name, want := range held {
		info, err := locks.Inspect(t.Context(), name)
		if err != nil || info.Held() != want {
			t.Errorf("%q is held: %t, want %t: %v", name, info.Held(), want, err)
		}
	}
}
