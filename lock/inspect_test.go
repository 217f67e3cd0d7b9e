package lock_test

import (
	"context"
	"io"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

func TestInspectTellsWhoHoldsAndWhoWaits(t *testing.T) {
	host, err := os.Hostname()
	wantErr(t, err, nil)
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		meta := map[string]string{"app": "shop", "host": "evil", "pid": "1"}
		locks := open(t, memlock.NewBackend(store), &lock.Options{Meta: meta})
		meta["app"] = "changed by its caller, later"
		other := open(t, memlock.NewBackend(store), nil)
		start := time.Now()
		held := mustLock(t, locks.Mutex("a", &lock.MutexOptions{Meta: map[string]string{"job": "7", "host": "evil"}}))
		local := lockLater(t, t.Context(), locks.Mutex("a", nil))
		remote := lockLater(t, t.Context(), other.Mutex("a", nil))
		time.Sleep(time.Second)
		got, err := locks.Inspect(t.Context(), "a")
		wantErr(t, err, nil)
		want := lock.Info{
			Name: "a", Token: held.Token(), Waiting: 1, Local: 1,
			Holders: []lock.Holder{{
				Owner: held.Owner(), Mode: driver.Exclusive, Since: start, TTL: 29 * time.Second,
				Meta: map[string]string{"app": "shop", "host": host, "job": "7", "pid": strconv.Itoa(os.Getpid())},
			}},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		wantEqual(t, "held", got.Held(), true)
		mustUnlock(t, held)
		for range 2 { // either may be first
			select {
			case got := <-local:
				mustUnlock(t, got.lease)
			case got := <-remote:
				mustUnlock(t, got.lease)
			}
		}
	})
}

func TestInspectOfAFreeLock(t *testing.T) {
	virtual(t, func(t *testing.T) {
		locks := openMem(t, nil)
		mustUnlock(t, mustLock(t, locks.Mutex("a", nil)))
		got, err := locks.Inspect(t.Context(), "a")
		wantErr(t, err, nil)
		wantEqual(t, "held", got.Held(), false)
		wantEqual(t, "name", got.Name, "a")
	})
}

func TestListFindsHeldLocksByPrefix(t *testing.T) {
	virtual(t, func(t *testing.T) {
		locks := openMem(t, nil)
		for _, name := range []string{"a/1", "a/2", "a*", "b/1"} {
			mustLock(t, locks.Mutex(name, nil))
		}
		mustUnlock(t, mustLock(t, locks.Mutex("a/3", nil)))
		for prefix, want := range map[string]int{"": 4, "a": 3, "a/": 2, "a*": 1, "c": 0} {
			got, err := locks.List(t.Context(), prefix, 10)
			wantErr(t, err, nil)
			wantEqual(t, "locks under "+prefix, len(got), want)
		}
		got, err := locks.List(t.Context(), "", 2)
		wantErr(t, err, nil)
		wantEqual(t, "limited", len(got), 2)
	})
}

func TestForceReleaseFreesAndRaisesTheToken(t *testing.T) {
	virtual(t, func(t *testing.T) {
		locks := openMem(t, nil)
		old := mustLock(t, locks.Mutex("a", nil))
		held, err := locks.ForceRelease(t.Context(), "a")
		wantErr(t, err, nil)
		wantEqual(t, "held", held, true)
		info, err := locks.Inspect(t.Context(), "a")
		wantErr(t, err, nil)
		wantEqual(t, "held afterwards", info.Held(), false)
		if info.Token <= old.Token() {
			t.Errorf("token %d after %d", info.Token, old.Token())
		}
		held, err = locks.ForceRelease(t.Context(), "a")
		wantErr(t, err, nil)
		wantEqual(t, "held the second time", held, false)
	})
}

// forcing does as it is told when it is asked to force a release.
type forcing struct {
	driver.Backend
	force func(ctx context.Context) error
}

// ForceRelease implements [driver.Forcer].
func (f forcing) ForceRelease(ctx context.Context, _ string) (bool, error) {
	return false, f.force(ctx)
}

// A forced release that got no answer may have happened, and says so; one that was refused, or
// never got there, has not: unavailable means that nothing happened, unless the call goes on.
func TestAForcedReleaseWithoutAnAnswerSeemsNotToHaveHappened(t *testing.T) {
	underway := &driver.UnderwayError{Err: driver.ErrUnavailable, Ended: make(chan struct{})}
	for name, test := range map[string]struct {
		force func(ctx context.Context) error
		may   bool
		is    error
	}{
		"its time ended": {
			func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, true, context.DeadlineExceeded,
		},
		"broken off":  {func(context.Context) error { return io.ErrUnexpectedEOF }, true, io.ErrUnexpectedEOF},
		"underway":    {func(context.Context) error { return underway }, true, driver.ErrUnavailable},
		"unavailable": {func(context.Context) error { return driver.ErrUnavailable }, false, driver.ErrUnavailable},
		"refused":     {func(context.Context) error { return driver.ErrRefused }, false, driver.ErrRefused},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				locks := open(t, forcing{memlock.NewBackend(nil), test.force}, nil)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				_, err := locks.ForceRelease(ctx, "a")
				wantErr(t, err, test.is)
				wantEqual(t, "may have been applied", lock.MaybeApplied(err), test.may)
			})
		})
	}
}

func TestCheckReportsFindings(t *testing.T) {
	got, err := openMem(t, nil).Check(t.Context())
	wantErr(t, err, nil)
	wantEqual(t, "findings", len(got), 1)
	wantEqual(t, "level", got[0].Level, driver.Notice)
}

// plain is a backend without any optional capability.
type plain struct{ driver.Backend }

func TestWhatABackendLacksIsRefused(t *testing.T) {
	locks := open(t, plain{memlock.NewBackend(nil)}, nil)
	ctx := t.Context()
	calls := map[string]func() error{
		"Inspect":      func() error { _, err := locks.Inspect(ctx, "a"); return err },
		"List":         func() error { _, err := locks.List(ctx, "a", 1); return err },
		"ForceRelease": func() error { _, err := locks.ForceRelease(ctx, "a"); return err },
		"Check":        func() error { _, err := locks.Check(ctx); return err },
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			err := call()
			wantErr(t, err, lock.ErrUnsupported)
			wantText(t, err, "the backend has no ")
		})
	}
}

// A backend that cannot tell of releases is polled, in real time because such a
// backend has the machine's clock.
func TestABackendWithoutSignalsIsPolled(t *testing.T) {
	store := memlock.NewStore(nil)
	locks, other := open(t, plain{memlock.NewBackend(store)}, nil), open(t, memlock.NewBackend(store), nil)
	held := mustLock(t, other.Mutex("a", nil))
	timer := time.AfterFunc(50*time.Millisecond, func() { mustUnlock(t, held) })
	defer timer.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	mustUnlock(t, mustLockIn(t, ctx, locks.Mutex("a", nil)))
}
