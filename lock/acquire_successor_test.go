package lock_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// TestSilenceIsASuccessors: who was at the front has been answered until it left, and its successor
// never is: that is the time it is told, and what was said before.
func TestSilenceIsASuccessors(t *testing.T) {
	loading := fmt.Errorf("%w: loading", driver.ErrUnavailable)
	for name, test := range map[string]struct {
		answered       time.Duration // how long
		least, longest time.Duration // of the silence that the successor is told
		text           string
	}{
		"answered":     {15 * time.Second, 4 * time.Second, 5 * time.Second, "; before that: unavailable: loading"},
		"not answered": {0, 20 * time.Second, 20 * time.Second, ""},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				backend := newFaulty(nil)
				locks := open(t, backend, &lock.Options{Patience: 20 * time.Second})
				start := time.Now()
				backend.set(hooks{acquire: func(ctx context.Context, _ driver.Request) (driver.Grant, error) {
					if time.Since(start) < test.answered {
						return driver.Grant{}, loading
					}
					<-ctx.Done()
					return driver.Grant{}, ctx.Err()
				}})
				ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
				defer cancel()
				front := lockLater(t, ctx, locks.Mutex("a", nil))
				successor := lockLater(t, t.Context(), locks.Mutex("a", nil))
				wantErr(t, (<-front).err, context.DeadlineExceeded)
				got := <-successor
				wantBetween(t, "Lock", got.after, 20*time.Second, 20*time.Second)
				silent := toldSilence(t, got.err)
				wantBetween(t, "silence", silent, test.least, test.longest)
				wantNoAnswer(t, got.err, silent.String()+test.text)
			})
		})
	}
}

// TestAnAnswerAsTheWaitEndsIsForgotten: the second request of who is at the front is answered after
// 7 s, and that is no good to it. Its successor knows that something was answered, and is patient
// from then on if that was the lock.
func TestAnAnswerAsTheWaitEndsIsForgotten(t *testing.T) {
	for name, test := range map[string]struct {
		answer   error         // nil for the lock
		wait     time.Duration // of the front
		patience time.Duration // of the successor
	}{
		"the lock": {nil, 6900 * time.Millisecond, 17 * time.Second},
		"loading":  {fmt.Errorf("%w: loading", driver.ErrUnavailable), 6900 * time.Millisecond, 10 * time.Second},
		"refused":  {fmt.Errorf("%w: NOPERM", driver.ErrRefused), time.Minute, 17 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				backend := newFaulty(nil)
				locks := open(t, backend, &lock.Options{Patience: 10 * time.Second})
				calls := 0
				backend.set(hooks{acquire: func(ctx context.Context, req driver.Request) (driver.Grant, error) {
					calls++
					if calls != 2 {
						<-ctx.Done()
						return driver.Grant{}, ctx.Err()
					}
					time.Sleep(2*time.Second - 15*time.Millisecond) // 5 s and a pause have passed
					if test.answer != nil {
						return driver.Grant{}, test.answer
					}
					return backend.Backend.Acquire(context.WithoutCancel(ctx), req)
				}})
				ctx, cancel := context.WithTimeout(t.Context(), test.wait)
				defer cancel()
				front := lockLater(t, ctx, locks.Mutex("a", nil))
				successor := lockLater(t, t.Context(), locks.Mutex("a", nil))
				if got := <-front; got.err == nil || got.after > 7*time.Second {
					t.Fatalf("the front after %v: %v", got.after, got.err)
				}
				got := <-successor
				wantBetween(t, "Lock", got.after, test.patience-15*time.Millisecond, test.patience)
				wantBetween(t, "silence", toldSilence(t, got.err), 0, got.after-7*time.Second+15*time.Millisecond)
			})
		})
	}
}

// TestTheLastWordIsASuccessors: what the backend said before its successor's first request was broken
// off is told, as it is where the wait ends in the queue.
func TestTheLastWordIsASuccessors(t *testing.T) {
	for name, wait := range map[string]time.Duration{"queue": 3900 * time.Millisecond, "request": 6 * time.Second} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				backend := newFaulty(nil)
				locks := open(t, backend, &lock.Options{Patience: 20 * time.Second})
				start := time.Now()
				backend.set(hooks{acquire: func(ctx context.Context, _ driver.Request) (driver.Grant, error) {
					if time.Since(start) < 4*time.Second {
						return driver.Grant{}, fmt.Errorf("%w: loading", driver.ErrUnavailable)
					}
					<-ctx.Done()
					return driver.Grant{}, ctx.Err()
				}})
				short, cancel := context.WithTimeout(t.Context(), 4*time.Second)
				defer cancel()
				long, cancel := context.WithTimeout(t.Context(), wait)
				defer cancel()
				front := lockLater(t, short, locks.Mutex("a", nil))
				successor := lockLater(t, long, locks.Mutex("a", nil))
				wantErr(t, (<-front).err, context.DeadlineExceeded)
				err := (<-successor).err
				wantErr(t, err, context.DeadlineExceeded)
				wantErr(t, err, driver.ErrUnavailable)
				wantText(t, err, "; before that: unavailable: loading")
			})
		})
	}
}

// TestTheLastWordOfATryIsASuccessors: who was at the front was told that the backend is loading, and left; its
// successor is never answered. TestSilenceIsASuccessors wants that told where the front asked twice.
func TestTheLastWordOfATryIsASuccessors(t *testing.T) {
	for name, front := range map[string]func(ctx context.Context, m *lock.Mutex) error{
		"try": func(ctx context.Context, m *lock.Mutex) error { _, err := m.TryLock(ctx); return err },
		"lock whose wait ends as it is told": func(ctx context.Context, m *lock.Mutex) error {
			ctx, cancel := context.WithTimeout(ctx, 990*time.Millisecond)
			defer cancel()
			_, err := m.Lock(ctx)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				backend := newFaulty(nil)
				locks := open(t, backend, &lock.Options{Patience: 20 * time.Second})
				calls := 0
				backend.set(hooks{acquire: func(ctx context.Context, _ driver.Request) (driver.Grant, error) {
					if calls++; calls == 1 {
						time.Sleep(time.Second)
						return driver.Grant{}, fmt.Errorf("%w: loading", driver.ErrUnavailable)
					}
					<-ctx.Done()
					return driver.Grant{}, ctx.Err()
				}})
				m := locks.Mutex("a", nil)
				first := make(chan error, 1)
				go func() { first <- front(t.Context(), m) }()
				time.Sleep(100 * time.Millisecond)
				successor := lockLater(t, t.Context(), m)
				wantText(t, <-first, "loading")
				wantText(t, (<-successor).err, "; before that: unavailable: loading")
			})
		})
	}
}

// TestPatienceBehindATryIsNoLonger: a backend that never answers; who comes while a TryLock is at the front is
// patient for as long as who comes while a Lock is.
func TestPatienceBehindATryIsNoLonger(t *testing.T) {
	for name, try := range map[string]bool{"Lock": false, "TryLock": true} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				backend := newFaulty(nil)
				locks := open(t, backend, &lock.Options{Patience: 10 * time.Second})
				backend.freeze()
				m := locks.Mutex("a", nil)
				done := make(chan struct{})
				go func() {
					defer close(done)
					if try {
						_, _ = m.TryLock(t.Context())
					} else {
						_, _ = m.Lock(t.Context())
					}
				}()
				time.Sleep(time.Millisecond)
				got := <-lockLater(t, t.Context(), m)
				if got.after > 11*time.Second {
					t.Errorf("patience is 10s, and after %v: %v", got.after, got.err)
				}
				<-done
				backend.heal()
			})
		})
	}
}

// TestShortWaitsNeverAsk: a backend fails, and works again; meanwhile so many want the lock that the
// queue never ends, and each has less time than the pause after the failures. The pause counts from the
// last request, so that one of them asks in the end.
func TestShortWaitsNeverAsk(t *testing.T) {
	for name, test := range map[string]struct {
		wait  time.Duration
		first func(m *lock.Mutex, ctx context.Context) (*lock.Lease, error)
	}{
		"behind a TryLock":        {3 * time.Millisecond, (*lock.Mutex).TryLock},
		"behind a Lock":           {50 * time.Millisecond, (*lock.Mutex).Lock},
		"behind one of more time": {300 * time.Millisecond, (*lock.Mutex).Lock},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				backend := newFaulty(nil)
				locks := open(t, backend, nil)
				backend.set(hooks{acquire: func(context.Context, driver.Request) (driver.Grant, error) {
					time.Sleep(test.wait)
					return driver.Grant{}, fmt.Errorf("%w: loading", driver.ErrUnavailable)
				}})
				m := locks.Mutex("a", &lock.MutexOptions{Wait: test.wait})
				go func() { _, _ = test.first(m, t.Context()) }()
				got := make(chan error, 300)
				for i := range cap(got) {
					time.Sleep(test.wait / 3)
					if i == 50 {
						backend.heal()
					}
					go func() {
						lease, err := m.Lock(t.Context())
						if err == nil {
							err = lease.Unlock(context.Background())
						}
						got <- err
					}()
				}
				had := 0
				for range cap(got) {
					if <-got == nil {
						had++
					}
				}
				if had < 100 {
					t.Errorf("%d of %d had the lock, 250 of them when the backend was well", had, cap(got))
				}
			})
		})
	}
}

// TestABackendThatIsAwayIsAskedByEverybody: it fails, then it is silent, and each who wants the lock leaves
// before it would have answered. Whoever comes next keeps to the pause all the same.
func TestABackendThatIsAwayIsAskedByEverybody(t *testing.T) {
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		locks := open(t, backend, nil)
		start, asked := time.Now(), map[int]int{} // by second
		backend.set(hooks{acquire: func(ctx context.Context, _ driver.Request) (driver.Grant, error) {
			asked[int(time.Since(start)/time.Second)]++
			if time.Since(start) < 2*time.Second {
				return driver.Grant{}, fmt.Errorf("%w: loading", driver.ErrUnavailable)
			}
			<-ctx.Done()
			return driver.Grant{}, ctx.Err()
		}})
		m := locks.Mutex("a", &lock.MutexOptions{Wait: time.Second})
		var group sync.WaitGroup
		for range 4000 {
			group.Go(func() { _, _ = m.Lock(t.Context()) })
			time.Sleep(2 * time.Millisecond)
		}
		group.Wait()
		for second, n := range asked {
			if n > 10 {
				t.Errorf("%d requests in second %d: %v", n, second, asked)
			}
		}
	})
}

// toldSilence returns how long nothing was answered, as the error says.
func toldSilence(t *testing.T, err error) time.Duration {
	t.Helper()
	_, text, _ := strings.Cut(err.Error(), "no answer in ")
	text, _, _ = strings.Cut(text, ";")
	text, _, _ = strings.Cut(text, " ")
	silent, parseErr := time.ParseDuration(text)
	if parseErr != nil {
		t.Fatalf("%v, in %v", parseErr, err)
	}
	return silent
}
