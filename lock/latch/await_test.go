package latch_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/latch"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// TestWhoAwaitsIsNotWoken: all of them are, at once when the latch opens or is dropped, and not before; one that is
// not there is open.
func TestWhoAwaitsIsNotWoken(t *testing.T) {
	for name, opens := range map[string]func(*testing.T, *latch.Latch){
		"counted down": func(t *testing.T, l *latch.Latch) { countDown(t, l, 0) },
		"dropped": func(t *testing.T, l *latch.Latch) {
			if dropped, err := l.Drop(t.Context()); err != nil || !dropped {
				t.Errorf("dropped: %t, %v", dropped, err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := processes(t, 3)
				if err := p[0].latch(nil).Await(t.Context()); err != nil {
					t.Errorf("not there: %v", err)
				}
				set(t, p[0].latch(nil), 2)
				var waits []<-chan awaited
				for i := range 20 {
					waits = append(waits, await(t.Context(), p[i%2].latch(nil)))
				}
				pass(time.Minute)
				countDown(t, p[2].latch(nil), 1)
				pass(time.Minute)
				synctest.Wait()
				for _, w := range waits {
					if len(w) > 0 {
						t.Errorf("woken before: %+v", <-w)
					}
				}
				opens(t, p[2].latch(nil))
				for _, w := range waits {
					if a := <-w; a.err != nil || a.after != 2*time.Minute {
						t.Errorf("woken after %s: %v", a.after, a.err)
					}
				}
			})
		})
	}
}

// TestAnOpeningIsMissed: it comes while listening begins, or nobody tells of it.
func TestAnOpeningIsMissed(t *testing.T) {
	for name, c := range map[string]struct {
		watch bedrocktest.Fault
		wait  time.Duration
		late  time.Duration // at most
	}{
		"while listening begins":   {bedrocktest.Fault{Delay: 3 * time.Second}, 2 * time.Second, 2 * time.Second},
		"cannot listen":            {away(), 4 * time.Second, 2 * time.Second},
		"can listen after a while": {away(), time.Minute, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := processes(t, 2)
				set(t, p[0].latch(nil), 1)
				p[1].backend.Fail(bedrocktest.Watch, c.watch)
				done := await(t.Context(), p[1].latch(nil))
				pass(c.wait)
				countDown(t, p[0].latch(nil), 0)
				if a := <-done; a.err != nil || a.after-c.wait > c.late {
					t.Errorf("woken after %s: %v", a.after, a.err)
				}
				p[1].backend.WaitLate()
			})
		})
	}
}

func away() bedrocktest.Fault { return bedrocktest.Fault{Before: driver.ErrUnavailable} }

// deaf is a backend that tells of no opening.
type deaf struct {
	driver.Backend
	driver.Latches
}

// TestWaitingCostsMoreThanItSays: a request every 5 s, and where the store does not tell one every second.
func TestWaitingCostsMoreThanItSays(t *testing.T) {
	for name, c := range map[string]struct {
		tells       bool
		least, most int // in 100 s
	}{
		"tells": {true, 15, 30},
		"deaf":  {false, 80, 140},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				backend := bedrocktest.NewBackend(memlock.NewBackend(nil))
				var seen driver.Backend = backend
				if !c.tells {
					seen = deaf{backend, backend}
				}
				l := latch.New(open(t, seen), "parts", nil)
				set(t, l, 1)
				done := await(t.Context(), l)
				pass(100 * time.Second)
				if n := backend.Calls(bedrocktest.LatchCount); n < c.least || n > c.most {
					t.Errorf("%d requests in 100 s", n)
				}
				countDown(t, l, 0)
				if a := <-done; a.err != nil || a.after > 102*time.Second {
					t.Errorf("woken after %s: %v", a.after, a.err)
				}
			})
		})
	}
}

// TestWaitingGoesOn: when the context has ended, with its cause, or the client was stopped.
func TestWaitingGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := processes(t, 2)
		set(t, p[0].latch(nil), 1)
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errTold)
		defer cancel()
		a := <-await(ctx, p[0].latch(nil))
		wantErr(t, a.err, context.DeadlineExceeded)
		wantErr(t, a.err, errTold)
		if a.after != time.Minute {
			t.Errorf("ended after %s", a.after)
		}
		done := await(t.Context(), p[1].latch(nil))
		pass(time.Minute)
		stop(t, p[1].locks)
		a = <-done
		wantErr(t, a.err, lock.ErrClosed)
		wantUnknown(t, a.err, false)
		if a.after != time.Minute {
			t.Errorf("ended after %s", a.after)
		}
	})
}

// TestWhoGaveUpDoesNotKnowWhatIsLeft: the error tells it, unless the backend was silent when the wait ended.
func TestWhoGaveUpDoesNotKnowWhatIsLeft(t *testing.T) {
	for name, c := range map[string]struct {
		breaks func(*bedrocktest.Backend)
		left   int
	}{
		"answered": {func(*bedrocktest.Backend) {}, 2},
		"away":     {(*bedrocktest.Backend).Down, 0},
		"frozen":   {(*bedrocktest.Backend).Freeze, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := processes(t, 2)
				set(t, p[0].latch(nil), 3)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				done := await(ctx, p[1].latch(nil))
				pass(30 * time.Second)
				countDown(t, p[0].latch(nil), 2)
				pass(22 * time.Second)
				c.breaks(p[1].backend)
				a := <-done
				closed, known := errors.AsType[*latch.NotOpenError](a.err)
				if known != (c.left > 0) || known && closed.Left != c.left || a.after != time.Minute {
					t.Errorf("ended after %s: %v", a.after, a.err)
				}
				wantErr(t, a.err, context.DeadlineExceeded)
				p[1].backend.Up()
				p[1].backend.Thaw()
				p[1].backend.WaitLate()
			})
		})
	}
}

// TestAnOutageEndsTheWait: only one that is longer than the patience, and then it is told.
func TestAnOutageEndsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := processes(t, 2)
		set(t, p[0].latch(nil), 1)
		done := await(t.Context(), p[1].latch(nil))
		pass(time.Minute)
		p[1].backend.Down()
		pass(9 * time.Second)
		p[1].backend.Up()
		pass(time.Minute)
		p[1].backend.Freeze()
		a := <-done
		wantErr(t, a.err, driver.ErrUnavailable)
		wantUnknown(t, a.err, false)
		if errors.Is(a.err, context.DeadlineExceeded) {
			t.Errorf("taken for the caller's end: %v", a.err)
		}
		if a.after < 139*time.Second || a.after > 148*time.Second {
			t.Errorf("ended after %s", a.after)
		}
		p[1].backend.Thaw()
		p[1].backend.WaitLate()
		countDown(t, p[0].latch(nil), 0)
	})
}

// TestWhoHasWaitedListensOn: nothing is left of a wait, whatever has ended it.
func TestWhoHasWaitedListensOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := processes(t, 2)
		l := p[0].latch(nil)
		set(t, l, 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		wantErr(t, l.Await(ctx), context.DeadlineExceeded)
		done := await(t.Context(), l)
		pass(time.Minute)
		countDown(t, p[1].latch(nil), 0)
		wantErr(t, (<-done).err, nil)
		lease, err := p[1].locks.Mutex("parts", nil).Lock(t.Context()) // for who listens counts as waiting
		if err != nil {
			t.Fatal(err)
		}
		if info, err := p[1].locks.Inspect(t.Context(), "parts"); err != nil || info.Waiting != 0 {
			t.Errorf("%d wait, error %v", info.Waiting, err)
		}
		if err := lease.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
