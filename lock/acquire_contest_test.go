package lock_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

func TestPatienceEnds(t *testing.T) {
	tests := []struct {
		name        string
		patience    time.Duration
		least, most time.Duration
	}{
		{"default", 0, 10 * time.Second, 11 * time.Second},
		{"none", -1, 0, 0},
		{"own", time.Minute, time.Minute, 61 * time.Second},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				backend := newFaulty(nil)
				locks := open(t, backend, &lock.Options{Patience: test.patience})
				backend.fail(errDown)
				start := time.Now()
				_, err := locks.Mutex("a", nil).Lock(t.Context())
				wantBetween(t, "patience", time.Since(start), test.least, test.most)
				wantErr(t, err, driver.ErrUnavailable)
				wantText(t, err, `lock "a": acquire`, "connection refused")
				wantEqual(t, "may have been applied", lock.MaybeApplied(err), false)
			})
		})
	}
}

// A backend that did not answer one of a process's waiters will not answer the
// next: they do not each wait for the whole patience, one after the other.
func TestAllWaitersFailTogetherWhenPatienceEnds(t *testing.T) {
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		locks := open(t, backend, nil)
		backend.fail(errDown)
		var waits []<-chan outcome
		for range 20 {
			waits = append(waits, lockLater(t, t.Context(), locks.Mutex("a", nil)))
		}
		for _, w := range waits {
			got := <-w
			wantErr(t, got.err, driver.ErrUnavailable)
			wantBetween(t, "patience", got.after, 10*time.Second, 11*time.Second)
		}
		backend.heal()
		mustUnlock(t, mustLock(t, locks.Mutex("a", nil)))
	})
}

func TestLockSurvivesAFailureWithinPatience(t *testing.T) {
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		locks := open(t, backend, nil)
		for _, err := range []error{errDown, errMute} {
			backend.fail(err)
			waiting := lockLater(t, t.Context(), locks.Mutex("a", nil))
			time.Sleep(9 * time.Second)
			backend.heal()
			got := <-waiting
			wantErr(t, got.err, nil)
			wantBetween(t, "recovery", got.after, 9*time.Second, 10*time.Second)
			mustUnlock(t, got.lease)
		}
	})
}

func TestAHeldLockDoesNotTryPatience(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		backend := newFaulty(store)
		holder, locks := open(t, memlock.NewBackend(store), nil), open(t, backend, nil)
		held := mustLock(t, holder.Mutex("a", nil))
		waiting := lockLater(t, t.Context(), locks.Mutex("a", nil))
		for range 20 { // every outage alone is short
			backend.fail(errDown)
			time.Sleep(8 * time.Second)
			backend.heal()
			time.Sleep(40 * time.Second)
		}
		mustUnlock(t, held)
		mustUnlock(t, granted(t, waiting))
	})
}

func TestWhatIsRefusedIsReportedAtOnce(t *testing.T) {
	for _, refusal := range []error{driver.ErrRefused, driver.ErrUnsupported} {
		virtual(t, func(t *testing.T) {
			backend := newFaulty(nil)
			locks := open(t, backend, nil)
			backend.fail(errors.Join(refusal, errors.New("wrong password")))
			start := time.Now()
			_, err := locks.Mutex("a", nil).Lock(t.Context())
			wantErr(t, err, refusal)
			wantText(t, err, "wrong password")
			wantEqual(t, "may have been applied", lock.MaybeApplied(err), false)
			wantEqual(t, "time taken", time.Since(start), 0)
			wantEqual(t, "acquires", backend.acquires.Load(), 1)
		})
	}
}

func TestTryLockAsksOnce(t *testing.T) {
	for _, failure := range []error{errDown, errMute} {
		virtual(t, func(t *testing.T) {
			backend := newFaulty(nil)
			locks := open(t, backend, nil)
			backend.set(hooks{acquire: failAcquire(failure)})
			_, err := locks.Mutex("a", nil).TryLock(t.Context())
			wantErr(t, err, failure)
			wantEqual(t, "acquires", backend.acquires.Load(), 1)
			wantEqual(t, "may have been applied", lock.MaybeApplied(err), errors.Is(failure, errMute))
		})
	}
}

// The request took effect but its answer was lost, and then the caller's
// patience or context ends. Nobody knows of the grant: it must not block others
// for its whole TTL.
func TestALostAnswerLeavesNoGrantBehind(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		backend := newFaulty(store)
		locks, other := open(t, backend, nil), open(t, memlock.NewBackend(store), nil)
		backend.set(hooks{acquire: func(ctx context.Context, req driver.Request) (driver.Grant, error) {
			if _, err := backend.Backend.Acquire(ctx, req); err != nil {
				return driver.Grant{}, err
			}
			<-ctx.Done()
			return driver.Grant{}, ctx.Err()
		}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		_, err := locks.Mutex("a", nil).Lock(ctx)
		wantErr(t, err, context.DeadlineExceeded)
		wantEqual(t, "time taken", time.Since(start), time.Second)
		mustUnlock(t, mustLock(t, other.Mutex("a", nil)))
		wantBetween(t, "the lock was free", time.Since(start), time.Second, 1200*time.Millisecond)
	})
}

// The request is still on its way when the caller gives up, and takes effect
// after the first attempt to take it back.
func TestARequestThatArrivesLateIsTakenBack(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		backend := newFaulty(store)
		locks, other := open(t, backend, nil), open(t, memlock.NewBackend(store), nil)
		backend.set(hooks{acquire: func(ctx context.Context, req driver.Request) (driver.Grant, error) {
			<-ctx.Done()
			time.AfterFunc(30*time.Millisecond, func() { _, _ = backend.Backend.Acquire(context.Background(), req) })
			return driver.Grant{}, ctx.Err()
		}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := locks.Mutex("a", nil).Lock(ctx)
		wantErr(t, err, context.DeadlineExceeded)
		time.Sleep(40 * time.Millisecond) // the late request has taken effect
		start := time.Now()
		mustUnlock(t, mustLock(t, other.Mutex("a", nil)))
		wantBetween(t, "the lock was free", time.Since(start), 0, 200*time.Millisecond)
	})
}

// A backend that answers with a grant although the caller's context is over.
func TestAGrantForACallerWhoHasGoneIsGivenBack(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		backend := newFaulty(store)
		locks, other := open(t, backend, nil), open(t, memlock.NewBackend(store), nil)
		backend.set(hooks{acquire: func(ctx context.Context, req driver.Request) (driver.Grant, error) {
			<-ctx.Done()
			return backend.Backend.Acquire(context.WithoutCancel(ctx), req)
		}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := locks.Mutex("a", nil).Lock(ctx)
		wantErr(t, err, context.DeadlineExceeded)
		synctest.Wait()
		lease, err := other.Mutex("a", nil).TryLock(t.Context())
		wantErr(t, err, nil)
		mustUnlock(t, lease)
	})
}

// The way to the store is longer than the lease: no grant can ever be used, and a Lock
// without a deadline must not go on for ever.
func TestGrantsThatAlwaysArriveTooLateEndPatience(t *testing.T) {
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		locks := open(t, backend, &lock.Options{TTL: 100 * time.Millisecond, Patience: 5 * time.Second})
		backend.set(hooks{acquire: slowly(backend, 200*time.Millisecond)})
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		start := time.Now()
		_, err := locks.Mutex("a", nil).Lock(ctx)
		wantText(t, err, "arrived too late")
		wantBetween(t, "Lock", time.Since(start), 5*time.Second, 7*time.Second)
	})
}

// A grant whose answer took longer than the lease is worth nothing: somebody
// else may have it. It is given back, and the lock asked for again under another
// owner, so that giving back the one cannot end the other.
func TestAGrantThatArrivesTooLateIsNotUsed(t *testing.T) {
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		locks := open(t, backend, &lock.Options{TTL: time.Second})
		backend.set(hooks{acquire: func(ctx context.Context, req driver.Request) (driver.Grant, error) {
			grant, err := backend.Backend.Acquire(ctx, req)
			if backend.acquires.Load() == 1 {
				time.Sleep(990 * time.Millisecond)
			}
			return grant, err
		}})
		lease := mustLock(t, locks.Mutex("a", nil))
		owners := backend.seen()
		if lease.Owner() == owners[0] {
			t.Error("the late grant was used")
		}
		time.Sleep(time.Hour)
		wantEqual(t, "state", lease.State(), lock.Held)
		mustUnlock(t, lease)
	})
}

// After an answer was lost the request is repeated under the same owner, so that
// the backend recognises it, and released twice, so that a copy of it which is
// still on its way is not left behind.
func TestARepeatedRequestIsRecognised(t *testing.T) {
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		locks := open(t, backend, nil)
		backend.set(hooks{acquire: func(ctx context.Context, req driver.Request) (driver.Grant, error) {
			grant, err := backend.Backend.Acquire(ctx, req)
			if backend.acquires.Load() == 1 {
				return driver.Grant{}, errMute
			}
			return grant, err
		}})
		start := time.Now()
		lease := mustLock(t, locks.Mutex("a", nil))
		wantBetween(t, "the second request", time.Since(start), 0, 100*time.Millisecond)
		if owners := backend.seen(); !slices.Equal(owners, []string{lease.Owner(), lease.Owner()}) {
			t.Errorf("asked as %v, got it as %s", owners, lease.Owner())
		}
		mustUnlock(t, lease)
		time.Sleep(time.Second)
		if n := backend.releases.Load(); n < 2 {
			t.Errorf("released %d times", n)
		}
	})
}

func failAcquire(err error) func(context.Context, driver.Request) (driver.Grant, error) {
	return func(context.Context, driver.Request) (driver.Grant, error) { return driver.Grant{}, err }
}

func failRenewals(err error) func(context.Context, []driver.Grant) []error {
	return func(_ context.Context, grants []driver.Grant) []error { return allFail(grants, err) }
}

// TestLongestWaitBreaksOffARequest: whether the lock counts as held then depends on
// how long the backend has been silent.
func TestLongestWaitBreaksOffARequest(t *testing.T) {
	for silent, held := range map[time.Duration]bool{100 * time.Millisecond: true, 2 * time.Second: false} {
		t.Run(silent.String(), func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				const wait = 10 * time.Second
				store := memlock.NewStore(nil)
				lease := mustLock(t, open(t, memlock.NewBackend(store), nil).Mutex("a", nil))
				line := newFaulty(store)
				got := lockLater(t, t.Context(), open(t, line, nil).Mutex("a", &lock.MutexOptions{Wait: wait}))
				time.Sleep(wait - silent)
				line.freeze()
				mustUnlock(t, lease) // the waiter wakes up, asks, and gets no answer
				end := <-got
				line.heal()
				if errors.Is(end.err, lock.ErrHeld) != held || end.err == nil {
					t.Errorf("%v: held should be %v", end.err, held)
				}
				wantEqual(t, "time taken", end.after, wait)
			})
		})
	}
}

// The context's end is not all there is to say when the backend has failed before.
func TestAWaitThatEndsSaysWhatKeptItWaiting(t *testing.T) {
	for name, during := range map[string]func(*faulty){
		"between two requests": func(*faulty) {},
		"amid a request":       (*faulty).freeze,
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				backend := newFaulty(nil)
				locks := open(t, backend, nil)
				backend.fail(errDown)
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
				defer cancel()
				waiting := lockLater(t, ctx, locks.Mutex("a", nil))
				time.Sleep(time.Second)
				during(backend)
				got := <-waiting
				wantErr(t, got.err, context.DeadlineExceeded)
				wantErr(t, got.err, errDown)
				wantErr(t, got.err, driver.ErrUnavailable)
				wantText(t, got.err, "waited 3s", "connection refused")
				backend.heal()
			})
		})
	}
}

// A failure that is over is not the reason why the lock was not had.
func TestAWaitThatEndsTellsNoOldFailure(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		backend := newFaulty(store)
		locks, other := open(t, backend, nil), open(t, memlock.NewBackend(store), nil)
		held := mustLock(t, other.Mutex("a", nil))
		backend.fail(errDown)
		ctx, cancel := context.WithTimeout(t.Context(), 9*time.Second)
		defer cancel()
		waiting := lockLater(t, ctx, locks.Mutex("a", nil))
		time.Sleep(time.Second)
		backend.heal()
		got := <-waiting
		wantErr(t, got.err, context.DeadlineExceeded)
		if errors.Is(got.err, errDown) {
			t.Error(got.err)
		}
		mustUnlock(t, held)
	})
}

// Who comes when the one at the front has waited for long has patience of its own.
func TestALateComerHasPatienceOfItsOwn(t *testing.T) {
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		locks := open(t, backend, &lock.Options{Patience: 4 * time.Second})
		backend.fail(errDown)
		first := lockLater(t, t.Context(), locks.Mutex("a", nil))
		time.Sleep(2500 * time.Millisecond)
		second := lockLater(t, t.Context(), locks.Mutex("a", nil))
		third := lockLater(t, t.Context(), locks.Mutex("a", nil))
		for _, w := range []<-chan outcome{first, second, third} {
			got := <-w
			wantErr(t, got.err, driver.ErrUnavailable)
			wantBetween(t, "patience", got.after, 4*time.Second, 6*time.Second)
		}
		if n := backend.acquires.Load(); n > 40 {
			t.Errorf("%d requests", n)
		}
	})
}

// Who waits behind another goroutine of the process is told what that one knew.
func TestWhoWaitsBehindTheFrontIsToldWhy(t *testing.T) {
	for name, test := range map[string]struct {
		front   func(t *testing.T, here *lock.Client, backend *faulty, elsewhere *lock.Client)
		text    string
		matches error
		waited  error // what it matches when the longest wait has passed
	}{
		"held by another process": {
			heldElsewhere, "before that: lock \"a\": held by ", context.DeadlineExceeded,
			lock.ErrHeld,
		},
		"held by another goroutine": {
			func(t *testing.T, here *lock.Client, _ *faulty, _ *lock.Client) {
				t.Helper()
				mustLock(t, here.Mutex("a", nil))
			},
			"before that: lock \"a\": held by ", context.DeadlineExceeded, lock.ErrHeld,
		},
		"not answered": {noAnswer, "connection refused", errDown, errDown},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				store := memlock.NewStore(nil)
				backend := newFaulty(store)
				here, elsewhere := open(t, backend, nil), open(t, memlock.NewBackend(store), nil)
				test.front(t, here, backend, elsewhere)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				_, err := here.Mutex("a", nil).Lock(ctx)
				wantErr(t, err, context.DeadlineExceeded)
				wantErr(t, err, test.matches)
				wantText(t, err, "waited 1s", test.text)
				if errors.Is(err, lock.ErrHeld) {
					t.Errorf("a context's end is taken for that of the longest wait: %v", err)
				}
				_, err = here.Mutex("a", &lock.MutexOptions{Wait: time.Second}).Lock(t.Context())
				wantErr(t, err, test.waited)
				backend.heal()
			})
		})
	}
}

// Who is at the front is told as much: it has heard it from the backend itself.
func TestTheFrontIsToldWho(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		locks, other := open(t, memlock.NewBackend(store), nil), open(t, memlock.NewBackend(store), nil)
		held := mustLock(t, other.Mutex("a", nil))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := locks.Mutex("a", nil).Lock(ctx)
		wantErr(t, err, context.DeadlineExceeded)
		wantText(t, err, "waited 1s", "before that: lock \"a\": held by "+held.Owner())
		_, err = locks.Mutex("a", &lock.MutexOptions{Wait: time.Second}).Lock(t.Context())
		wantHeldBy(t, err, "a", held.Owner())
		mustUnlock(t, held)
	})
}

// Who comes to the front when the backend has been failing waits a little before asking.
// If its time is over by then, the lock is not held: nobody knows.
func TestAnUnansweredWaitIsNotTakenForAHeldLock(t *testing.T) {
	virtual(t, func(t *testing.T) {
		const wait = 3 * time.Second
		backend := newFaulty(nil)
		locks := open(t, backend, nil)
		backend.fail(errDown)
		ctx, cancel := context.WithTimeout(t.Context(), wait-time.Millisecond)
		defer cancel()
		front := lockLater(t, ctx, locks.Mutex("a", nil))
		behind := lockLater(t, t.Context(), locks.Mutex("a", &lock.MutexOptions{Wait: wait}))
		wantErr(t, (<-front).err, context.DeadlineExceeded)
		got := <-behind
		wantErr(t, got.err, errDown)
		wantEqual(t, "waited", got.after, wait)
		if errors.Is(got.err, lock.ErrHeld) {
			t.Errorf("a backend that does not answer is taken for a lock that is held: %v", got.err)
		}
		backend.heal()
	})
}

// TestTheEndOfAWaitHidesItsCause: the request that it breaks off is the second one, and why
// the first was not granted is known.
func TestTheEndOfAWaitHidesItsCause(t *testing.T) {
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		locks := open(t, backend, nil)
		backend.set(hooks{acquire: func(ctx context.Context, _ driver.Request) (driver.Grant, error) {
			select {
			case <-time.After(time.Second):
				return driver.Grant{}, errDown
			case <-ctx.Done():
				return driver.Grant{}, ctx.Err()
			}
		}})
		_, err := locks.Mutex("a", &lock.MutexOptions{Wait: 3 * time.Second / 2}).Lock(t.Context())
		wantErr(t, err, errDown)
	})
}

// heldElsewhere has a goroutine wait for a lock that another process holds.
func heldElsewhere(t *testing.T, here *lock.Client, _ *faulty, elsewhere *lock.Client) {
	t.Helper()
	lease := mustLock(t, elsewhere.Mutex("a", nil))
	t.Cleanup(func() { mustUnlock(t, lease) })
	waitInFront(t, here)
}

// noAnswer has a goroutine wait for a backend that is down.
func noAnswer(t *testing.T, here *lock.Client, backend *faulty, _ *lock.Client) {
	t.Helper()
	backend.fail(errDown)
	waitInFront(t, here)
}

// waitInFront puts a goroutine at the front of the queue.
func waitInFront(t *testing.T, here *lock.Client) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	front := lockLater(t, ctx, here.Mutex("a", nil))
	t.Cleanup(func() { cancel(); <-front })
	time.Sleep(10 * time.Millisecond)
}
