package lock_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

func TestCloseEndsEveryWait(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		locks, other := open(t, memlock.NewBackend(store), nil), open(t, memlock.NewBackend(store), nil)
		held := mustLock(t, other.Mutex("a", nil))
		front := lockLater(t, t.Context(), locks.Mutex("a", nil))
		behind := lockLater(t, t.Context(), locks.Mutex("a", nil))
		closeNow(t, locks)
		wantErr(t, (<-front).err, lock.ErrClosed)
		wantErr(t, (<-behind).err, lock.ErrClosed)
		mustUnlock(t, held)
	})
}

func TestCloseReleasesWhatIsHeld(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		locks, other := open(t, memlock.NewBackend(store), nil), open(t, memlock.NewBackend(store), nil)
		var leases []*lock.Lease
		for i := range 100 {
			leases = append(leases, mustLock(t, locks.Mutex(fmt.Sprint(i), nil)))
		}
		inner := mustLockIn(t, leases[0].Context(), locks.Mutex("0", nil))
		leases = append(leases, inner)
		closeNow(t, locks)
		for _, lease := range leases {
			wantCause(t, lease.Context(), lock.ErrClosed)
			wantErr(t, lease.Err(), lock.ErrClosed)
			wantErr(t, lease.Unlock(t.Context()), lock.ErrClosed)
		}
		for i := range 100 {
			lease, err := other.Mutex(fmt.Sprint(i), nil).TryLock(t.Context())
			wantErr(t, err, nil)
			mustUnlock(t, lease)
		}
	})
}

func TestCloseTwiceIsHarmless(t *testing.T) {
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		locks := open(t, backend, nil)
		closeNow(t, locks)
		closeNow(t, locks)
		wantEqual(t, "closes of the backend", backend.closes.Load(), 1)
	})
}

// Several may close a client, and each has a context of its own: none waits for longer
// than that, and none ends what the first goes on waiting for.
func TestEveryCloseEndsWithItsOwnContext(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		backend := newFaulty(store)
		locks, other := open(t, backend, nil), open(t, memlock.NewBackend(store), nil)
		lease := mustLock(t, locks.Mutex("a", nil))
		backend.fail(errDown)
		_ = lease.Unlock(t.Context()) // goes on in the background
		go closeNow(t, locks)
		synctest.Wait()
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		wantErr(t, locks.Stop(ctx), context.DeadlineExceeded)
		wantBetween(t, "Close", time.Since(start), time.Second, 1200*time.Millisecond)
		backend.heal()
		closeNow(t, locks)
		next, err := other.Mutex("a", nil).TryLock(t.Context())
		wantErr(t, err, nil)
		mustUnlock(t, next)
	})
}

// A backend may wait for its servers when it is closed.
func TestCloseDoesNotWaitForASlowBackend(t *testing.T) {
	virtual(t, func(t *testing.T) {
		locks, err := lock.New(slowToClose{memlock.NewBackend(nil)}, nil)
		wantErr(t, err, nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		wantErr(t, locks.Stop(ctx), context.DeadlineExceeded)
		wantBetween(t, "Close", time.Since(start), time.Second, 1200*time.Millisecond)
		wantErr(t, locks.Stop(t.Context()), nil)
		wantBetween(t, "all of it", time.Since(start), time.Minute, time.Minute)
	})
}

// slowToClose is a backend that takes a minute to close.
type slowToClose struct{ driver.Backend }

// Close implements [driver.Backend].
func (s slowToClose) Close() error {
	time.Sleep(time.Minute)
	return s.Backend.Close()
}

func TestCloseWaitsForCleanUp(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		backend := newFaulty(store)
		locks, other := open(t, backend, nil), open(t, memlock.NewBackend(store), nil)
		lease := mustLock(t, locks.Mutex("a", nil))
		backend.fail(errDown)
		_ = lease.Unlock(t.Context()) // goes on in the background
		time.AfterFunc(5*time.Second, backend.heal)
		start := time.Now()
		closeNow(t, locks)
		wantBetween(t, "Close", time.Since(start), 5*time.Second, 6*time.Second)
		next, err := other.Mutex("a", nil).TryLock(t.Context())
		wantErr(t, err, nil)
		mustUnlock(t, next)
	})
}

// Those who gave up an Unlock or a Lock were told that it goes on: who stops the client learns
// that it does not any more.
func TestStopHidesWhatTheBackgroundCouldNotRelease(t *testing.T) {
	for want, names := range map[string][]string{
		`not known to be released: "a"`:                                 {"a"},
		`not known to be released: "a", "b"`:                            {"b", "a"},
		`not known to be released: "a", "b", "c", "d", "e", and 2 more`: {"g", "f", "e", "d", "c", "b", "a"},
	} {
		virtual(t, func(t *testing.T) {
			backend := newFaulty(nil)
			locks := open(t, backend, nil)
			mustUnlock(t, mustLock(t, locks.Mutex("released", nil)))
			var leases []*lock.Lease
			for i, name := range names {
				opts := &lock.MutexOptions{MinHold: time.Duration(i%2) * time.Minute}
				leases = append(leases, mustLock(t, locks.Mutex(name, opts)))
			}
			backend.fail(errDown)
			for _, lease := range leases {
				_ = lease.Unlock(t.Context()) // goes on in the background
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			err := locks.Stop(ctx)
			wantErr(t, err, context.DeadlineExceeded)
			wantText(t, err, want)
		})
	}
}

// What nobody has unlocked is refused at Stop: there is no other who could be told.
func TestStopHidesWhatTheBackendRefusesToRelease(t *testing.T) {
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		locks := open(t, backend, nil)
		mustLock(t, locks.Mutex("a", nil))
		backend.fail(driver.ErrRefused)
		err := locks.Stop(t.Context())
		wantErr(t, err, driver.ErrRefused)
		wantText(t, err, `lock "a": not released, it runs out by itself`)
	})
}

// Close returns within 200 ms of its context's end however many leases a backend
// that does not answer would have to be told of.
func TestCloseOnAFrozenBackendEndsWithItsContext(t *testing.T) {
	for name, limit := range map[string]time.Duration{"ends later": time.Second, "over already": 0} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				backend := newFaulty(nil)
				locks, err := lock.New(backend, nil)
				wantErr(t, err, nil)
				for i := range 1000 {
					mustLock(t, locks.Mutex(fmt.Sprint(i), nil))
				}
				backend.freeze()
				ctx, cancel := context.WithTimeout(t.Context(), limit)
				defer cancel()
				start := time.Now()
				err = locks.Stop(ctx)
				wantBetween(t, "Close", time.Since(start), limit, limit+200*time.Millisecond)
				wantErr(t, err, context.DeadlineExceeded)
				wantEqual(t, "closes of the backend", backend.closes.Load(), 1)
				synctest.Wait() // and nothing goes on afterwards
			})
		})
	}
}

// A request is under way when the client is stopped: its caller is told that the
// client is stopped, and what it may have taken is given back.
// slowReleases passes releases on when a time is over, or gives them up when their context ends.
func slowReleases(backend *faulty, d time.Duration) hooks {
	return hooks{release: func(ctx context.Context, g driver.Grant) (int, error) {
		select {
		case <-time.After(d):
			return backend.Backend.Release(ctx, g)
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}}
}

// Stop does not break off an Unlock under way: it has a context of its own.
func TestStopBreaksAnUnlockOff(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		backend := newFaulty(store)
		locks, err := lock.New(backend, nil)
		wantErr(t, err, nil)
		lease := mustLock(t, locks.Mutex("a", nil))
		backend.set(slowReleases(backend, 300*time.Millisecond))
		done := make(chan error, 1)
		go func() { done <- lease.Unlock(t.Context()) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		wantErr(t, locks.Stop(ctx), context.DeadlineExceeded)
		wantErr(t, <-done, nil)
		mustUnlock(t, mustLock(t, open(t, memlock.NewBackend(store), nil).Mutex("a", nil)))
	})
}

// What an Unlock could not release when the client's time is over is left to run out, and that
// is what it says.
func TestAnUnlockAfterTheEndGoesOnForEver(t *testing.T) {
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		locks, err := lock.New(backend, nil)
		wantErr(t, err, nil)
		lease := mustLock(t, locks.Mutex("a", nil))
		backend.freeze()
		done := make(chan error, 1)
		go func() { done <- lease.Unlock(t.Context()) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		wantErr(t, locks.Stop(ctx), context.DeadlineExceeded)
		err = <-done
		wantText(t, err, "not released, it runs out by itself")
		wantEqual(t, "may have been applied", lock.MaybeApplied(err), true)
	})
}

// Stop waits for as long as it may for a store that answers late, and then all is well.
func TestStopTellsOfWhatItHasReleased(t *testing.T) {
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		locks, err := lock.New(backend, nil)
		wantErr(t, err, nil)
		mustLock(t, locks.Mutex("a", nil))
		backend.set(slowReleases(backend, 6*time.Second))
		ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
		defer cancel()
		wantErr(t, locks.Stop(ctx), nil)
	})
}

func TestCloseWithARequestUnderWay(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		backend := newFaulty(store)
		locks, other := open(t, backend, nil), open(t, memlock.NewBackend(store), nil)
		backend.set(hooks{acquire: slowly(backend, time.Second)})
		waiting := lockLater(t, t.Context(), locks.Mutex("a", nil))
		closeNow(t, locks)
		wantErr(t, (<-waiting).err, lock.ErrClosed)
		next, err := other.Mutex("a", nil).TryLock(t.Context())
		wantErr(t, err, nil)
		mustUnlock(t, next)
	})
}

func TestAClosedClientRefusesEverything(t *testing.T) {
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		locks := open(t, backend, nil)
		closeNow(t, locks)
		ctx := t.Context()
		calls := map[string]func() error{
			"Lock":         func() error { _, err := locks.Mutex("a", nil).Lock(ctx); return err },
			"TryLock":      func() error { _, err := locks.Mutex("a", nil).TryLock(ctx); return err },
			"Inspect":      func() error { _, err := locks.Inspect(ctx, "a"); return err },
			"List":         func() error { _, err := locks.List(ctx, "a", 1); return err },
			"ForceRelease": func() error { _, err := locks.ForceRelease(ctx, "a"); return err },
			"Check":        func() error { _, err := locks.Check(ctx); return err },
			"Do": func() error {
				return lock.Do(ctx, locks.Mutex("a", nil), func(context.Context, *lock.Lease) error { return nil }, nil)
			},
		}
		for name, call := range calls {
			if err := call(); !errors.Is(err, lock.ErrClosed) {
				t.Errorf("%s: %v", name, err)
			}
		}
		wantEqual(t, "calls of the backend", backend.calls(), 0)
	})
}

// TestStopIsHeldUpByADeadShard: one server of several has died silently, and nobody answers for what
// it has. What is on the others is released all the same.
func TestStopIsHeldUpByADeadShard(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		backend := newFaulty(store)
		locks, err := lock.New(backend, &lock.Options{TTL: 10 * time.Minute})
		wantErr(t, err, nil)
		for i := range 200 {
			mustLock(t, locks.Mutex(fmt.Sprintf("dead-%d", i), nil))
			mustLock(t, locks.Mutex(fmt.Sprintf("well-%d", i), nil))
		}
		backend.set(hooks{release: func(ctx context.Context, g driver.Grant) (int, error) {
			if strings.HasPrefix(g.Name, "dead") {
				<-ctx.Done()
				return 0, ctx.Err()
			}
			return backend.Backend.Release(ctx, g)
		}})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		wantText(t, locks.Stop(ctx), `lock "dead-0": not released, it runs out by itself`)
		other := open(t, memlock.NewBackend(store), nil)
		for i := range 200 {
			lease, err := other.Mutex(fmt.Sprintf("well-%d", i), nil).TryLock(t.Context())
			wantErr(t, err, nil)
			mustUnlock(t, lease)
		}
	})
}

// TestStopSaysThatAReleaseGoesOn: when its time is over nothing does.
func TestStopSaysThatAReleaseGoesOn(t *testing.T) {
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		locks, err := lock.New(backend, nil)
		wantErr(t, err, nil)
		mustLock(t, locks.Mutex("a", nil))
		backend.freeze()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err = locks.Stop(ctx)
		wantText(t, err, "not released, it runs out by itself")
		if told := strings.Count(err.Error(), `"a"`); told != 1 {
			t.Errorf("the lock is told %d times: %v", told, err)
		}
	})
}

// TestABackendThatPanicsShutsTheName: whoever called survives, as a handler of HTTP does, and others
// want the lock, too.
func TestABackendThatPanicsShutsTheName(t *testing.T) {
	survive := func(f func()) {
		defer func() { _ = recover() }()
		f()
	}
	for name, ask := range map[string]func(t *testing.T, backend *faulty, locks *lock.Client){
		"Lock": func(t *testing.T, backend *faulty, locks *lock.Client) {
			backend.set(hooks{acquire: func(context.Context, driver.Request) (driver.Grant, error) { panic("mad") }})
			survive(func() { _, _ = locks.Mutex("a", nil).Lock(t.Context()) })
		},
		"Unlock": func(t *testing.T, backend *faulty, locks *lock.Client) {
			lease := mustLock(t, locks.Mutex("a", nil))
			backend.set(hooks{release: func(context.Context, driver.Grant) (int, error) { panic("mad") }})
			survive(func() { _ = lease.Unlock(t.Context()) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				backend := newFaulty(nil)
				locks, err := lock.New(backend, nil)
				wantErr(t, err, nil)
				ask(t, backend, locks)
				backend.heal()
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // longer than the TTL
				defer cancel()
				_, err = locks.Mutex("a", nil).Lock(ctx)
				wantErr(t, err, nil)
				wantErr(t, locks.Stop(ctx), nil)
			})
		})
	}
}

// TestStopTellsOfWhatTheBackgroundReleased: the first release of a lock breaks, and those after it go
// well, or break until the time of Stop is over.
func TestStopTellsOfWhatTheBackgroundReleased(t *testing.T) {
	for name, test := range map[string]struct {
		broken int
		told   int
	}{"the first": {1, 0}, "all": {1 << 30, 1}} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				backend := newFaulty(nil)
				locks, err := lock.New(backend, nil)
				wantErr(t, err, nil)
				mustLock(t, locks.Mutex("a", nil))
				var calls atomic.Int64
				backend.set(hooks{release: func(ctx context.Context, g driver.Grant) (int, error) {
					if calls.Add(1) <= int64(test.broken) {
						return 0, errors.New("connection reset")
					}
					return backend.Backend.Release(ctx, g)
				}})
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				text := fmt.Sprint(locks.Stop(ctx))
				wantEqual(t, "times that the lock is named", strings.Count(text, `"a"`), test.told)
				wantEqual(t, "goes on", strings.Contains(text, "goes on in the background"), false)
			})
		})
	}
}

// TestStopLeavesAPlaceInLine: the request of one who waits is refused, and so has a place, while its client is being
// stopped.
func TestStopLeavesAPlaceInLine(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		backend := newFaulty(store)
		locks, other := open(t, backend, nil), open(t, memlock.NewBackend(store), nil)
		held := mustLock(t, other.RWMutex("a", nil).Reader())
		backend.set(hooks{acquire: slowly(backend, time.Second)})
		waiting := lockLater(t, t.Context(), locks.RWMutex("a", nil).Writer())
		closeNow(t, locks)
		wantErr(t, (<-waiting).err, lock.ErrClosed)
		mustUnlock(t, mustTryLock(t, other.RWMutex("a", nil).Reader())) // nobody keeps readers off
		mustUnlock(t, held)
	})
}
