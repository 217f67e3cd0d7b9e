package lock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// takenBack lets the first acquisition come to nothing: its grant does not count,
// and the backend takes it back itself, or could not say so in time. Copies of that
// release arrive whenever they like.
func takenBack(f *faulty, class error, late ...time.Duration) hooks {
	first := true
	return hooks{acquire: func(ctx context.Context, req driver.Request) (driver.Grant, error) {
		g, err := f.Backend.Acquire(ctx, req)
		if err != nil || !first {
			return g, err
		}
		first = false
		for _, d := range late {
			time.AfterFunc(d, func() { _, _ = f.Backend.Release(context.Background(), g) })
		}
		return driver.Grant{}, driver.Spent(class)
	}}
}

func TestALateReleaseOfAGrantTakenBackEndsNoOther(t *testing.T) {
	for name, test := range map[string]struct {
		class error
		late  []time.Duration
	}{
		"taken back":           {driver.ErrUnavailable, []time.Duration{0, 600 * time.Millisecond}},
		"could not be told":    {errMute, []time.Duration{600 * time.Millisecond}},
		"could not be told, 2": {errMute, []time.Duration{0, 60 * time.Millisecond, 600 * time.Millisecond}},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				store := memlock.NewStore(nil)
				backend := newFaulty(store)
				locks, other := open(t, backend, nil), open(t, memlock.NewBackend(store), nil)
				backend.set(takenBack(backend, test.class, test.late...))
				start := time.Now()
				lease := mustLock(t, locks.Mutex("a", nil))
				wantBetween(t, "the grant", time.Since(start), 0, 300*time.Millisecond)
				for range 20 {
					time.Sleep(50 * time.Millisecond)
					_, err := other.Mutex("a", nil).TryLock(t.Context())
					wantErr(t, err, lock.ErrHeld)
				}
				mustUnlock(t, lease)
				owners := backend.seen()
				if owners[0] == lease.Owner() {
					t.Errorf("asked again under the owner that was given up: %v", owners)
				}
			})
		})
	}
}

// What a backend remembers of a release that it made itself must not make a loss
// look like a success.
func TestATakeBackDoesNotHideALaterLoss(t *testing.T) {
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		locks := open(t, backend, nil)
		backend.set(takenBack(backend, driver.ErrUnavailable, 0))
		lease := mustLock(t, locks.Mutex("a", nil))
		if _, err := locks.ForceRelease(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		wantErr(t, lease.Unlock(t.Context()), lock.ErrLost)
	})
}

// underway leaves every acquisition behind when its context ends, to be made after d.
func underway(f *faulty, d time.Duration) hooks {
	return hooks{acquire: func(ctx context.Context, req driver.Request) (driver.Grant, error) {
		return driver.Await(ctx, func() (driver.Grant, error) {
			time.Sleep(d)
			return f.Backend.Acquire(context.WithoutCancel(ctx), req)
		})
	}}
}

// However long the request goes on after its caller has gone, and whatever the
// releases were answered meanwhile: nothing is left when it has ended.
func TestARequestLeftBehindIsCleanedUpAfterItsEnd(t *testing.T) {
	for _, late := range []time.Duration{120 * time.Millisecond, time.Second, time.Minute, 10 * time.Minute} {
		virtual(t, func(t *testing.T) {
			store := memlock.NewStore(nil)
			backend := newFaulty(store)
			locks, other := open(t, backend, nil), open(t, memlock.NewBackend(store), nil)
			backend.set(underway(backend, late))
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			_, err := locks.Mutex("a", nil).Lock(ctx)
			wantErr(t, err, context.DeadlineExceeded)
			time.Sleep(late) // the request has ended
			lease, err := other.Mutex("a", nil).TryLock(t.Context())
			if err != nil {
				t.Fatalf("a request left behind for %s: %v", late, err)
			}
			mustUnlock(t, lease)
			if n := backend.releases.Load(); n > 4 {
				t.Errorf("%d releases while the request was under way", n)
			}
		})
	}
}

// A request whose call has returned, and another that goes on: the lock was had
// under their owner, and given back before the other arrives.
func TestARequestLeftBehindIsCleanedUpAfterTheUnlock(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		backend := newFaulty(store)
		locks, other := open(t, backend, nil), open(t, memlock.NewBackend(store), nil)
		late := underway(backend, time.Minute).acquire
		backend.set(hooks{acquire: func(ctx context.Context, req driver.Request) (driver.Grant, error) {
			if backend.acquires.Load() > 1 {
				return backend.Backend.Acquire(ctx, req)
			}
			bounded, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			return late(bounded, req)
		}})
		mustUnlock(t, mustLock(t, locks.Mutex("a", nil)))
		time.Sleep(time.Minute) // the first request has ended
		lease, err := other.Mutex("a", nil).TryLock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		mustUnlock(t, lease)
	})
}

// Close waits for requests under way, to clean up after them, but no longer than
// its context lasts.
func TestCloseCleansUpAfterARequestLeftBehind(t *testing.T) {
	for _, patience := range []time.Duration{time.Second, time.Minute} {
		virtual(t, func(t *testing.T) {
			store := memlock.NewStore(nil)
			backend := newFaulty(store)
			locks, err := lock.New(backend, nil)
			if err != nil {
				t.Fatal(err)
			}
			backend.set(underway(backend, 10*time.Second))
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			_, err = locks.Mutex("a", nil).Lock(ctx)
			wantErr(t, err, context.DeadlineExceeded)
			start := time.Now()
			closing, end := context.WithTimeout(t.Context(), patience)
			defer end()
			err = locks.Stop(closing)
			if patience < 10*time.Second {
				wantErr(t, err, context.DeadlineExceeded)
				wantEqual(t, "Close", time.Since(start), patience)
				time.Sleep(10 * time.Second)
				return
			}
			wantErr(t, err, nil)
			wantBetween(t, "Close", time.Since(start), 9*time.Second, 11*time.Second)
			other := open(t, memlock.NewBackend(store), nil)
			mustUnlock(t, mustLock(t, other.Mutex("a", nil)))
			wantBetween(t, "the lock was free", time.Since(start), 0, 11*time.Second)
		})
	}
}

// Whatever an error's own class is: a call that goes on may be granted.
func TestACallUnderWayIsOfUnknownOutcome(t *testing.T) {
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		other := open(t, backend, nil)
		ended := make(chan struct{})
		close(ended)
		backend.set(hooks{acquire: failAcquire(&driver.UnderwayError{Err: driver.ErrRefused, Ended: ended})})
		_, err := other.Mutex("a", nil).TryLock(t.Context())
		wantErr(t, err, driver.ErrRefused)
		wantEqual(t, "may have been applied", lock.MaybeApplied(err), true)
		if !errors.As(err, new(*driver.UnderwayError)) {
			t.Error("the error is not passed on")
		}
		backend.set(hooks{acquire: failAcquire(&driver.UnderwayError{Err: driver.ErrHeld, Ended: ended})})
		_, err = other.Mutex("a", nil).TryLock(t.Context())
		wantErr(t, err, lock.ErrHeld)
		wantEqual(t, "may have been applied, though held", lock.MaybeApplied(err), true)
	})
}

// TestAWaitEndsWhileTheLockIsGranted: the longest wait ends, and what was asked for may have been granted.
// Who takes that for a refusal alone leaves a lock that nobody expects.
func TestAWaitEndsWhileTheLockIsGranted(t *testing.T) {
	type answer = func(ctx context.Context, f *faulty, req driver.Request, call int) (driver.Grant, error)
	for name, acquire := range map[string]answer{
		"a moment after the end": func(ctx context.Context, f *faulty, r driver.Request, _ int) (driver.Grant, error) {
			time.Sleep(1100 * time.Millisecond)
			return f.Backend.Acquire(context.WithoutCancel(ctx), r)
		},
		"after a refusal": func(ctx context.Context, f *faulty, r driver.Request, call int) (driver.Grant, error) {
			if call == 1 {
				time.Sleep(900 * time.Millisecond)
				return driver.Grant{}, &driver.HeldError{Owner: "other", TTL: 50 * time.Millisecond}
			}
			_, _ = f.Backend.Acquire(ctx, r)
			<-ctx.Done()
			return driver.Grant{}, ctx.Err()
		},
		"to an owner given up": func(ctx context.Context, f *faulty, r driver.Request, call int) (driver.Grant, error) {
			g, err := f.Backend.Acquire(ctx, r)
			if call == 1 {
				return driver.Grant{}, driver.Spent(errors.New("the connection is broken"))
			}
			return g, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				store := memlock.NewStore(nil)
				backend := newFaulty(store)
				locks, other := open(t, backend, nil), open(t, memlock.NewBackend(store), nil)
				calls := 0
				backend.set(hooks{
					acquire: func(ctx context.Context, req driver.Request) (driver.Grant, error) {
						calls++
						return acquire(ctx, backend, req, calls)
					},
					release: func(ctx context.Context, _ driver.Grant) (int, error) {
						<-ctx.Done()
						return 0, ctx.Err()
					},
				})
				_, err := locks.Mutex("a", &lock.MutexOptions{Wait: time.Second}).Lock(t.Context())
				wantGrantTold(t, other, err)
				backend.heal()
			})
		})
	}
}

// TestAnOldDoubtIsToldForEver: one answer was lost as the wait began, and all since then say that somebody
// else has the lock; what may have been granted to an owner given up has run out long ago.
func TestAnOldDoubtIsToldForEver(t *testing.T) {
	broken := errors.New("the connection is broken")
	for name, first := range map[string]error{"same owner": broken, "owner given up": driver.Spent(broken)} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				store := memlock.NewStore(nil)
				backend := newFaulty(store)
				locks, other := open(t, backend, nil), open(t, memlock.NewBackend(store), nil)
				held := mustLock(t, other.Mutex("a", nil))
				calls := 0
				backend.set(hooks{acquire: func(ctx context.Context, req driver.Request) (driver.Grant, error) {
					if calls++; calls == 1 {
						return driver.Grant{}, first
					}
					return backend.Backend.Acquire(ctx, req)
				}})
				_, err := locks.Mutex("a", &lock.MutexOptions{Wait: 10 * time.Minute}).Lock(t.Context())
				if !errors.Is(err, lock.ErrHeld) || lock.MaybeApplied(err) || calls < 3 {
					t.Errorf("after %d calls: %v", calls, err)
				}
				mustUnlock(t, held)
			})
		})
	}
}
