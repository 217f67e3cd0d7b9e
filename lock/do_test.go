package lock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

var errWork = errors.New("the work failed")

func TestDoHoldsTheLockWhileTheFunctionRuns(t *testing.T) {
	virtual(t, func(t *testing.T) {
		locks := openMem(t, nil)
		m := locks.Mutex("a", nil)
		err := lock.Do(t.Context(), m, func(ctx context.Context, l *lock.Lease) error {
			wantEqual(t, "state", l.State(), lock.Held)
			_, err := m.TryLock(t.Context())
			wantErr(t, err, lock.ErrHeld)
			return lock.Do(ctx, m, nothing, nil) // re-enters
		}, nil)
		wantErr(t, err, nil)
		mustUnlock(t, mustLock(t, m))
	})
}

func TestDoReturnsTheFunctionsError(t *testing.T) {
	virtual(t, func(t *testing.T) {
		locks := openMem(t, nil)
		err := lock.Do(t.Context(), locks.Mutex("a", nil), func(context.Context, *lock.Lease) error {
			return errWork
		}, nil)
		wantErr(t, err, errWork)
		mustUnlock(t, mustLock(t, locks.Mutex("a", nil)))
	})
}

func TestDoWaitsOrTriesAsToldAndThenFallsBack(t *testing.T) {
	tests := []struct {
		name string
		opts lock.DoOptions
		took time.Duration
	}{
		{"no wait", lock.DoOptions{Wait: -1}, 0},
		{"wait", lock.DoOptions{Wait: time.Minute}, time.Minute},
		{"retries", lock.DoOptions{Retries: 3}, 300 * time.Millisecond},
		{"retries, own delay", lock.DoOptions{Retries: 3, RetryDelay: time.Second}, 3 * time.Second},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				locks := openMem(t, nil)
				m := locks.Mutex("a", nil)
				held := mustLock(t, m)
				start := time.Now()
				wantErr(t, lock.Do(t.Context(), m, fails(t), &test.opts), lock.ErrHeld)
				wantEqual(t, "time taken", time.Since(start), test.took)

				test.opts.Fallback = func(context.Context) error { return errWork }
				wantErr(t, lock.Do(t.Context(), m, fails(t), &test.opts), errWork)
				mustUnlock(t, held)
				wantErr(t, lock.Do(t.Context(), m, nothing, &test.opts), nil)
			})
		})
	}
}

func TestDoRetriesUntilTheLockIsFree(t *testing.T) {
	virtual(t, func(t *testing.T) {
		locks := openMem(t, nil)
		held := mustLock(t, locks.Mutex("a", nil))
		time.AfterFunc(2500*time.Millisecond, func() { mustUnlock(t, held) })
		start := time.Now()
		opts := &lock.DoOptions{Retries: 10, RetryDelay: time.Second}
		wantErr(t, lock.Do(t.Context(), locks.Mutex("a", nil), nothing, opts), nil)
		wantEqual(t, "time taken", time.Since(start), 3*time.Second)
	})
}

func TestDoWithoutLimitsWaitsForTheContext(t *testing.T) {
	for name, opts := range map[string]*lock.DoOptions{
		"waiting":  nil,
		"retrying": {Retries: 1000, RetryDelay: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				locks := openMem(t, nil)
				mustLock(t, locks.Mutex("a", nil))
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				start := time.Now()
				err := lock.Do(ctx, locks.Mutex("a", nil), fails(t), opts)
				wantErr(t, err, context.DeadlineExceeded)
				wantText(t, err, "waited 1m0s")
				wantEqual(t, "time taken", time.Since(start), time.Minute)
			})
		})
	}
}

func TestDoFallsBackForAHeldLockOnly(t *testing.T) {
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		locks := open(t, backend, nil)
		backend.fail(errDown)
		err := lock.Do(t.Context(), locks.Mutex("a", nil), fails(t), &lock.DoOptions{
			Wait:     time.Minute,
			Fallback: func(context.Context) error { t.Error("fell back"); return nil },
		})
		wantErr(t, err, errDown)
	})
}

// TestDoesWaitDoesNotEndTheWork: it bounds the wait alone, however long the work takes.
func TestDoesWaitDoesNotEndTheWork(t *testing.T) {
	virtual(t, func(t *testing.T) {
		locks := openMem(t, nil)
		err := lock.Do(t.Context(), locks.Mutex("a", nil), func(ctx context.Context, _ *lock.Lease) error {
			time.Sleep(time.Hour)
			return context.Cause(ctx)
		}, &lock.DoOptions{Wait: time.Minute})
		wantErr(t, err, nil)
	})
}

// TestDoesWaitOnASilentBackendIsNoFallback: nobody knows whether somebody has the lock.
func TestDoesWaitOnASilentBackendIsNoFallback(t *testing.T) {
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		locks := open(t, backend, nil)
		backend.set(hooks{acquire: func(ctx context.Context, _ driver.Request) (driver.Grant, error) {
			<-ctx.Done()
			return driver.Grant{}, ctx.Err()
		}})
		err := lock.Do(t.Context(), locks.Mutex("a", nil), fails(t), &lock.DoOptions{
			Wait:     time.Second,
			Fallback: func(context.Context) error { t.Error("fell back"); return nil },
		})
		wantErr(t, err, context.DeadlineExceeded)
		wantText(t, err, "the longest wait has passed")
	})
}

// upstairs is a lock made by others: whoever has it has the one downstairs, too.
type upstairs struct{ first, second *lock.Mutex }

func (u upstairs) Name() string { return u.second.Name() }

func (u upstairs) Lock(ctx context.Context) (*lock.Lease, error) {
	lease, err := u.first.Lock(ctx)
	if err != nil {
		return nil, err
	}
	return u.second.Lock(lease.Context())
}

func (u upstairs) TryLock(ctx context.Context) (*lock.Lease, error) {
	lease, err := u.first.TryLock(ctx)
	if err != nil {
		return nil, err
	}
	return u.second.TryLock(lease.Context())
}

// The end of one wait is the cause with which its user ends another, as an error group does:
// that one's longest wait has not passed.
func TestAnotherWaitsEndIsTakenForTheOwn(t *testing.T) {
	virtual(t, func(t *testing.T) {
		down := newFaulty(nil)
		away, locks := open(t, down, nil), openMem(t, nil)
		down.fail(errDown)
		held := mustLock(t, locks.Mutex("a", nil))
		ctx, cancel := context.WithCancelCause(t.Context())
		waiting := lockLater(t, ctx, locks.Mutex("a", nil))
		cancel(lock.Do(t.Context(), away.Mutex("b", nil), fails(t), &lock.DoOptions{Wait: time.Second}))
		got := <-waiting
		wantErr(t, got.err, context.Canceled)
		wantErr(t, got.err, errDown)
		if errors.Is(got.err, lock.ErrHeld) {
			t.Error(got.err)
		}
		down.heal()
		mustUnlock(t, held)
	})
}

func TestDoTakesLocksMadeByOthers(t *testing.T) {
	for what, opts := range map[string]*lock.DoOptions{
		"waiting": nil, "no wait": {Wait: -1}, "bounded": {Wait: time.Second}, "retrying": {Retries: 2},
	} {
		t.Run(what, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				locks := openMem(t, nil)
				u := upstairs{locks.Mutex("a", nil), locks.Mutex("b", nil)}
				wantErr(t, lock.Do(t.Context(), u, func(_ context.Context, l *lock.Lease) error {
					wantEqual(t, "name", l.Name(), "b")
					if opts != nil {
						wantErr(t, lock.Do(t.Context(), u, fails(t), opts), lock.ErrHeld)
					}
					return nil
				}, opts), nil)
			})
		})
	}
}

func TestDoSaysThatTheLockWasLost(t *testing.T) {
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		locks := open(t, backend, nil)
		err := lock.Do(t.Context(), locks.Mutex("a", nil), func(ctx context.Context, _ *lock.Lease) error {
			backend.fail(errDown)
			<-ctx.Done()
			wantErr(t, context.Cause(ctx), lock.ErrLost)
			backend.heal()
			return errWork
		}, nil)
		wantErr(t, err, lock.ErrLost)
		wantErr(t, err, errWork)
	})
}

func TestDoUnlocksWhenTheFunctionPanics(t *testing.T) {
	virtual(t, func(t *testing.T) {
		locks := openMem(t, nil)
		func() {
			defer func() { wantEqual(t, "recovered", recover(), any("boom")) }()
			_ = lock.Do(t.Context(), locks.Mutex("a", nil), func(context.Context, *lock.Lease) error {
				panic("boom")
			}, nil)
		}()
		lease, err := locks.Mutex("a", nil).TryLock(t.Context())
		wantErr(t, err, nil)
		mustUnlock(t, lease)
	})
}

func TestDoTakesTheNameOfItsFunction(t *testing.T) {
	virtual(t, func(t *testing.T) {
		locks := openMem(t, nil)
		names := &nameSeen{}
		tests := []struct {
			fn   func(context.Context, *lock.Lease) error
			want string
		}{
			{names.pointer, "github.com/bedrock-go/bedrock/lock_test.(*nameSeen).pointer"},
			{nameValue{names}.value, "github.com/bedrock-go/bedrock/lock_test.nameValue.value"},
			{func1{names}.value, "github.com/bedrock-go/bedrock/lock_test.func1.value"},
		}
		for _, test := range tests {
			wantErr(t, lock.Do(t.Context(), locks.Mutex("", nil), test.fn, nil), nil)
			wantEqual(t, "name", names.name, test.want)
		}
		wantErr(t, lock.Do(t.Context(), locks.Mutex("", nil), nothing, nil), nil)
	})
}

// TestDoCallsNothing: it would panic with the lock in hand.
func TestDoCallsNothing(t *testing.T) {
	locks := openMem(t, nil)
	wantInvalid(t, lock.Do(t.Context(), locks.Mutex("jobs", nil), nil, nil), "function", "nil")
}

func TestDoRefusesAFunctionLiteralWithoutAName(t *testing.T) {
	locks := openMem(t, nil)
	literal := func(context.Context, *lock.Lease) error { return nil }
	nested := func() func(context.Context, *lock.Lease) error {
		return func(context.Context, *lock.Lease) error { return nil }
	}()
	for _, fn := range []func(context.Context, *lock.Lease) error{literal, nested, packageLiteral, fails(t)} {
		wantInvalid(t, lock.Do(t.Context(), locks.Mutex("", nil), fn, nil), "name", "function literal")
	}
}

var packageLiteral = func(context.Context, *lock.Lease) error { return nil }

// TestLiteralsOfInlinedFunctionsGuardDifferentLocks: what the compiler calls a literal
// depends on who calls the function in which it stands, if that is a literal as well.
func TestLiteralsOfInlinedFunctionsGuardDifferentLocks(t *testing.T) {
	locks := openMem(t, nil)
	for _, caller := range []func() func(context.Context, *lock.Lease) error{
		//nolint:gocritic // the call is the point
		func() func(context.Context, *lock.Lease) error { return makesLiteral() },
		func() func(context.Context, *lock.Lease) error { return func1{}.makesLiteral() },
	} {
		wantInvalid(t, lock.Do(t.Context(), locks.Mutex("", nil), caller(), nil), "name", "function literal")
	}
}

func makesLiteral() func(context.Context, *lock.Lease) error {
	return func(context.Context, *lock.Lease) error { return nil }
}

// func1 is called like a literal, and is none.
type func1 struct{ *nameSeen }

func (n func1) value(ctx context.Context, l *lock.Lease) error { return n.pointer(ctx, l) }

func (func1) makesLiteral() func(context.Context, *lock.Lease) error { return makesLiteral() }

// nameSeen remembers the name under which its method ran.
type nameSeen struct{ name string }

func (n *nameSeen) pointer(_ context.Context, l *lock.Lease) error {
	n.name = l.Name()
	return nil
}

type nameValue struct{ *nameSeen }

func (n nameValue) value(_ context.Context, l *lock.Lease) error {
	n.name = l.Name()
	return nil
}

// fails returns a function that must not be called.
func fails(t *testing.T) func(context.Context, *lock.Lease) error {
	t.Helper()
	return func(context.Context, *lock.Lease) error {
		t.Error("called without the lock")
		return nil
	}
}
