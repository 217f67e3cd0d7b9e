package lock_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/internal/timelimit"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// frozen returns a client whose store hangs, and another one's that does not.
func frozen(t *testing.T, patience time.Duration) (hanging *bedrocktest.Backend, locks, other *lock.Client) {
	t.Helper()
	store := memlock.NewStore(nil)
	hanging = bedrocktest.NewBackend(memlock.NewBackend(store))
	hanging.Freeze()
	locks, other = open(t, hanging, &lock.Options{Patience: patience}), open(t, memlock.NewBackend(store), nil)
	t.Cleanup(hanging.Thaw) // before the clients are closed
	return hanging, locks, other
}

// wantNoAnswer fails the test unless the error says of a request that it got no answer, and
// cannot be taken for the end of the caller's context.
func wantNoAnswer(t *testing.T, err error, text string) {
	t.Helper()
	wantErr(t, err, driver.ErrUnavailable)
	wantText(t, err, `lock "a": acquire: no answer in `+text)
	wantEqual(t, "may have been applied", lock.MaybeApplied(err), true)
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		t.Errorf("the context seems to have ended: %v", err)
	}
}

// A backend that hangs is one that does not answer: whoever has all the time in the world
// waits no longer for it than for one that fails, and leaves nothing behind.
func TestAFrozenBackendOutlastsPatience(t *testing.T) {
	for name, test := range map[string]struct {
		patience, most time.Duration
		asked          int // at least
		text           string
	}{
		"default": {0, 10 * time.Second, 2, "10s"},
		"short":   {3 * time.Second, 3 * time.Second, 2, "3s"},
		"long":    {time.Minute, time.Minute, 12, "1m0s"},
		"none":    {-1, 5 * time.Second, 1, "5s"},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				hanging, locks, other := frozen(t, test.patience)
				start := time.Now()
				_, err := locks.Mutex("a", nil).Lock(t.Context())
				wantBetween(t, "Lock", time.Since(start), test.most, test.most+time.Millisecond)
				wantNoAnswer(t, err, test.text)
				if n := hanging.Calls(bedrocktest.Acquire); n < test.asked {
					t.Errorf("asked %d times, want %d", n, test.asked)
				}
				hanging.Thaw()
				time.Sleep(10 * time.Second) // for the releases that hung
				lease, err := other.Mutex("a", nil).TryLock(t.Context())
				wantErr(t, err, nil)
				mustUnlock(t, lease)
			})
		})
	}
}

// TryLock asks once, and waits for one answer.
func TestAFrozenBackendHoldsTryLockUp(t *testing.T) {
	for patience, most := range map[time.Duration]time.Duration{
		0: 5 * time.Second, 3 * time.Second: 1500 * time.Millisecond, time.Hour: 5 * time.Second, -1: 5 * time.Second,
		time.Millisecond: 10 * time.Millisecond,
	} {
		virtual(t, func(t *testing.T) {
			hanging, locks, _ := frozen(t, patience)
			start := time.Now()
			_, err := locks.Mutex("a", nil).TryLock(t.Context())
			wantBetween(t, "TryLock", time.Since(start), most, most)
			wantNoAnswer(t, err, most.String())
			wantEqual(t, "requests", hanging.Calls(bedrocktest.Acquire), 1)
		})
	}
}

// No options are the defaults, also for who only asks what they mean.
func TestAnswerTimeOfNoOptions(t *testing.T) {
	var none *lock.Options
	wantEqual(t, "answer time", none.AnswerTime(), 5*time.Second)
}

// Calls that begin a little later than others share their limit: it may end theirs sooner
// than it said, but not much, and never later.
func TestALimitIsSharedForTooLong(t *testing.T) {
	virtual(t, func(t *testing.T) {
		const limit = 4 * time.Second
		_, locks, _ := frozen(t, 2*limit)
		var waits []<-chan outcome
		for i := range 20 {
			mutex := locks.Mutex("a"+string(rune('a'+i)), nil)
			done := make(chan outcome, 1)
			start := time.Now()
			go func() {
				_, err := mutex.TryLock(t.Context())
				done <- outcome{nil, err, time.Since(start)}
			}()
			waits = append(waits, done)
			time.Sleep(limit / 17)
		}
		for _, w := range waits {
			wantBetween(t, "TryLock", (<-w).after, limit*7/8, limit)
		}
	})
}

// The longest wait is not the context's end either.
func TestAFrozenBackendOutlastsTheWait(t *testing.T) {
	for _, wait := range []time.Duration{time.Second, 9 * time.Second} { // in the first request, and in the next
		virtual(t, func(t *testing.T) {
			_, locks, _ := frozen(t, 0)
			start := time.Now()
			_, err := locks.Mutex("a", &lock.MutexOptions{Wait: wait}).Lock(t.Context())
			wantBetween(t, "Lock", time.Since(start), wait, wait)
			wantNoAnswer(t, err, wait.String())
			if errors.Is(err, lock.ErrHeld) {
				t.Errorf("nobody knows whether it is held: %v", err)
			}
		})
	}
}

// The others in the queue have been as patient.
func TestAFrozenBackendOutlastsThePatienceOfTheQueue(t *testing.T) {
	virtual(t, func(t *testing.T) {
		_, locks, _ := frozen(t, 4*time.Second)
		var waits []<-chan outcome
		for range 20 {
			waits = append(waits, lockLater(t, t.Context(), locks.Mutex("a", nil)))
		}
		time.Sleep(time.Second)
		late := lockLater(t, t.Context(), locks.Mutex("a", nil))
		for _, w := range waits {
			got := <-w
			wantErr(t, got.err, driver.ErrUnavailable)
			wantBetween(t, "patience", got.after, 4*time.Second, 5*time.Second)
		}
		got := <-late
		wantErr(t, got.err, driver.ErrUnavailable)
		wantBetween(t, "the patience of who came late", got.after, 4*time.Second, 5*time.Second)
	})
}

// A request that hangs is made again while there is patience, and under the same owner: the
// answer to either is the answer.
func TestARequestThatHangsIsMadeAgain(t *testing.T) {
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		locks := open(t, backend, nil)
		backend.set(hooks{acquire: func(ctx context.Context, req driver.Request) (driver.Grant, error) {
			if backend.acquires.Load() > 1 {
				return backend.Backend.Acquire(ctx, req)
			}
			<-ctx.Done()
			return driver.Grant{}, ctx.Err()
		}})
		start := time.Now()
		lease := mustLock(t, locks.Mutex("a", nil))
		wantBetween(t, "Lock", time.Since(start), 5*time.Second, 6*time.Second)
		wantEqual(t, "state", lease.State(), lock.Held)
		if owners := backend.seen(); owners[0] != lease.Owner() {
			t.Errorf("asked as %v, got it as %s", owners, lease.Owner())
		}
		mustUnlock(t, lease)
	})
}

// However late the answer to a request that was given up: what it grants is given back.
func TestAnAnswerAfterPatienceLeavesAGrantBehind(t *testing.T) {
	for _, late := range []time.Duration{6 * time.Second, 20 * time.Second, 10 * time.Minute} {
		virtual(t, func(t *testing.T) {
			store := memlock.NewStore(nil)
			backend := newFaulty(store)
			locks, other := open(t, backend, nil), open(t, memlock.NewBackend(store), nil)
			backend.set(underway(backend, late))
			_, err := locks.Mutex("a", nil).TryLock(t.Context())
			wantNoAnswer(t, err, "5s")
			time.Sleep(late)
			lease, err := other.Mutex("a", nil).TryLock(t.Context())
			if err != nil {
				t.Fatalf("an answer after %s: %v", late, err)
			}
			mustUnlock(t, lease)
		})
	}
}

// The context of a call is its caller's: it has the values, and ends at once with it.
func TestTheLimitHidesTheCallersContext(t *testing.T) {
	type key struct{}
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		locks := open(t, backend, nil)
		backend.set(hooks{acquire: func(ctx context.Context, _ driver.Request) (driver.Grant, error) {
			wantEqual(t, "the value", ctx.Value(key{}), any("traced"))
			<-ctx.Done()
			return driver.Grant{}, ctx.Err()
		}})
		for _, try := range []bool{true, false} {
			ctx, cancel := context.WithCancelCause(context.WithValue(t.Context(), key{}, "traced"))
			start := time.Now()
			time.AfterFunc(time.Second, func() { cancel(errDown) })
			lock := locks.Mutex("a", nil).Lock
			if try {
				lock = locks.Mutex("a", nil).TryLock
			}
			_, err := lock(ctx)
			wantEqual(t, "time taken", time.Since(start), time.Second)
			wantErr(t, err, context.Canceled)
			wantErr(t, err, errDown)
		}
	})
}

// A client that is stopped waits for no answer any more: to a first request, to the next, or to
// one that its caller would have broken off later.
func TestStopWaitsForAFrozenBackend(t *testing.T) {
	for name, test := range map[string]struct{ before, limit time.Duration }{
		"first": {0, time.Hour}, "next": {6 * time.Second, time.Hour}, "limited": {0, 4 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				backend := newFaulty(nil)
				backend.freeze()
				locks, err := lock.New(backend, &lock.Options{Patience: time.Hour})
				if err != nil {
					t.Fatal(err)
				}
				limited, cancelLock := context.WithTimeout(t.Context(), test.limit)
				defer cancelLock()
				waiting := lockLater(t, limited, locks.Mutex("a", nil))
				time.Sleep(test.before)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				start := time.Now()
				wantErr(t, locks.Stop(ctx), context.DeadlineExceeded)
				wantBetween(t, "Stop", time.Since(start), time.Second, 1200*time.Millisecond)
				got := <-waiting
				wantErr(t, got.err, lock.ErrClosed)
				wantBetween(t, "Lock", got.after, test.before+time.Second, test.before+1200*time.Millisecond)
				backend.heal()
			})
		})
	}
}

// TestSilenceHidesWhatWasAnswered: a backend that refuses for a reason of its own, and takes
// its time, is cut off in the end; the reason is what a person needs.
func TestSilenceHidesWhatWasAnswered(t *testing.T) {
	virtual(t, func(t *testing.T) {
		hanging, locks, _ := frozen(t, 3*time.Second)
		hanging.Thaw()
		tooFew := fmt.Errorf("%w: 0 of 2 replicas", driver.ErrUnavailable)
		hanging.FailAll(bedrocktest.Fault{Delay: 1400 * time.Millisecond, Before: tooFew})
		_, err := locks.Mutex("a", nil).Lock(t.Context())
		wantErr(t, err, tooFew)
		wantErr(t, err, driver.ErrUnavailable)
		if text := err.Error(); !strings.Contains(text, "no answer in ") ||
			!strings.Contains(text, "; before that: ") || strings.Count(text, "0 of 2 replicas") != 1 {
			t.Error(err)
		}
		hanging.Up()
	})
}

// Every request is given up after a while, the last one before patience is over: the time that is
// told is all of that, not the last request's.
func TestSilenceIsToldShorterThanItWas(t *testing.T) {
	tooFew := fmt.Errorf("%w: 0 of 2 replicas", driver.ErrUnavailable)
	for name, test := range map[string]struct {
		first error
		after time.Duration
		text  string
	}{
		"answered":     {tooFew, 0, "; before that: unavailable: 0 of 2 replicas"},
		"not answered": {errMute, 4 * time.Second, "no answer in 10s; meanwhile: " + errMute.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				backend := newFaulty(nil)
				locks := open(t, backend, nil)
				backend.set(hooks{acquire: func(ctx context.Context, _ driver.Request) (driver.Grant, error) {
					if backend.acquires.Load() == 1 {
						time.Sleep(test.after)
						return driver.Grant{}, test.first
					}
					<-ctx.Done()
					return driver.Grant{}, ctx.Err()
				}})
				start := time.Now()
				_, err := locks.Mutex("a", nil).Lock(t.Context())
				wantBetween(t, "Lock", time.Since(start), 10*time.Second, 10*time.Second)
				wantErr(t, err, test.first)
				wantText(t, err, "acquire: no answer in ", test.text)
				if strings.Contains(err.Error(), "no answer in 4") || strings.Contains(err.Error(), "no answer in 5") {
					t.Errorf("that is the time of one request: %v", err)
				}
			})
		})
	}
}

// The pause before the last request is no longer than what patience is left; the request may
// have a moment more.
func TestPatienceEndsInAPause(t *testing.T) {
	for name, test := range map[string]struct {
		hang bool
		most time.Duration
	}{"failing": {false, 0}, "silent in the end": {true, 250 * time.Millisecond}} {
		t.Run(name, func(t *testing.T) {
			for patience := 3 * time.Second; patience < 4*time.Second; patience += 50 * time.Millisecond {
				virtual(t, func(t *testing.T) {
					backend := newFaulty(nil)
					locks := open(t, backend, &lock.Options{Patience: patience})
					start := time.Now()
					backend.set(hooks{acquire: func(ctx context.Context, _ driver.Request) (driver.Grant, error) {
						if test.hang && time.Since(start) > patience-time.Second {
							<-ctx.Done()
							return driver.Grant{}, ctx.Err()
						}
						return driver.Grant{}, errDown
					}})
					_, err := locks.Mutex("a", nil).Lock(t.Context())
					wantErr(t, err, driver.ErrUnavailable)
					wantBetween(t, "Lock", time.Since(start), patience, patience+test.most)
					backend.heal()
				})
			}
		})
	}
}

// Timers are late when the process was paused: the limit that calls share is over then, and
// nobody has taken it away yet.
func TestACallAfterAPauseGetsALimitThatIsOver(t *testing.T) {
	backend := newFaulty(nil)
	locks := open(t, backend, nil)
	var limits []<-chan struct{}
	backend.set(hooks{acquire: func(ctx context.Context, req driver.Request) (driver.Grant, error) {
		_, limit := timelimit.Ends(ctx)
		limits = append(limits, limit)
		return backend.Backend.Acquire(ctx, req)
	}})
	for range 2 {
		lease, err := locks.Mutex("a", nil).TryLock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		mustUnlock(t, lease)
		backend.suspend(20 * time.Second)
	}
	if limits[0] == limits[1] {
		t.Error("the limit of a call that was made before the pause")
	}
}
