package latch_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/latch"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// TestALatchDoesNotCount: who sets it first does, who counts is told what is left, and at zero it is gone.
func TestALatchDoesNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := processes(t, 2)
		one, other := p[0].latch(nil), p[1].latch(nil)
		set(t, one, 3)
		if is, err := other.Set(t.Context(), 7); err != nil || is {
			t.Errorf("set for the second time: %t, %v", is, err)
		}
		countDown(t, other, 2)
		wantCount(t, one, 2)
		_, err := one.CountDownBy(t.Context(), 3)
		wantErr(t, err, latch.ErrBelowZero)
		if wrong, ok := errors.AsType[*latch.CountError](err); !ok || wrong.Left != 2 || wrong.By != 3 {
			t.Errorf("the error is %v", err)
		}
		if left, err := one.CountDownBy(t.Context(), 2); err != nil || left != 0 {
			t.Errorf("%d are left, error %v", left, err)
		}
		_, err = other.CountDown(t.Context())
		wantErr(t, err, latch.ErrBelowZero)
		set(t, other, 2)
		wantCount(t, one, 2)
		for _, there := range []bool{true, false} {
			if dropped, err := one.Drop(t.Context()); err != nil || dropped != there {
				t.Errorf("dropped: %t, %v", dropped, err)
			}
		}
		wantCount(t, one, 0)
	})
}

// callsOf returns what every method says.
func callsOf(ctx context.Context, l *latch.Latch) map[string]error {
	errs := map[string]error{}
	_, errs["set"] = l.Set(ctx, 1)
	_, errs["count down"] = l.CountDown(ctx)
	_, errs["count"] = l.Count(ctx)
	errs["await"] = l.Await(ctx)
	_, errs["drop"] = l.Drop(ctx)
	return errs
}

// TestAWrongLatchReachesTheBackend: every method tells what is wrong, and asks nobody.
func TestAWrongLatchReachesTheBackend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := processes(t, 1)[0]
		for name, l := range map[string]*latch.Latch{
			"client":          latch.New(nil, "parts", nil),
			"name":            latch.New(p.locks, "", nil),
			"patience":        p.latch(&latch.Options{Patience: time.Nanosecond}),
			"longer patience": p.latch(&latch.Options{Patience: time.Minute}),
		} {
			for method, err := range callsOf(t.Context(), l) {
				if !errors.Is(err, lock.ErrInvalid) {
					t.Errorf("%s: %s: %v", name, method, err)
				}
			}
		}
		l := p.latch(nil)
		for method, err := range callsOf(nil, l) { //nolint:staticcheck // that is what it is about
			if !errors.Is(err, lock.ErrInvalid) {
				t.Errorf("no context: %s: %v", method, err)
			}
		}
		for _, count := range []int{-1, 0, latch.MaxCount + 1} {
			_, err := l.Set(t.Context(), count)
			wantErr(t, err, lock.ErrInvalid)
			_, err = l.CountDownBy(t.Context(), count)
			wantErr(t, err, lock.ErrInvalid)
		}
		ended, end := context.WithCancelCause(t.Context())
		end(errTold)
		for method, err := range callsOf(ended, l) {
			if !errors.Is(err, context.Canceled) || !errors.Is(err, errTold) || lock.MaybeApplied(err) {
				t.Errorf("a context that has ended: %s: %v", method, err)
			}
		}
		if n := p.backend.AllCalls(); n != 0 {
			t.Errorf("%d calls", n)
		}
	})
}

var errTold = errors.New("told to end")

// TestAStoppedClientIsAsked: every method says that it is stopped.
func TestAStoppedClientIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		locks, err := memlock.New(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		stop(t, locks)
		for method, err := range callsOf(t.Context(), latch.New(locks, "parts", nil)) {
			if !errors.Is(err, lock.ErrClosed) {
				t.Errorf("%s: %v", method, err)
			}
		}
	})
}

// TestABackendWithoutLatchesIsUsed: it is named, as what other backends lack.
func TestABackendWithoutLatchesIsUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		locks := open(t, struct{ driver.Backend }{memlock.NewBackend(nil)})
		for method, err := range callsOf(t.Context(), latch.New(locks, "parts", nil)) {
			if !errors.Is(err, lock.ErrUnsupported) || !strings.Contains(err.Error(), "the backend has no latches") {
				t.Errorf("%s: %v", method, err)
			}
		}
	})
}

// TestALockIsCountedDown: its name is that of another kind.
func TestALockIsCountedDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := processes(t, 1)[0]
		lease, err := p.locks.Mutex("parts", nil).Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for method, err := range callsOf(t.Context(), p.latch(nil)) {
			wrong, ok := errors.AsType[*driver.KindError](err)
			if !ok || !errors.Is(err, lock.ErrKind) || wrong.Wanted != driver.Latch || lock.MaybeApplied(err) {
				t.Errorf("%s: %v", method, err)
			}
		}
		if err := lease.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
