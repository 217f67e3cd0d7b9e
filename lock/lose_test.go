package lock_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

func TestALeaseThatCannotBeRenewedIsLostByTheClock(t *testing.T) {
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		locks := open(t, backend, nil)
		lease := mustLock(t, locks.Mutex("a", nil))
		start := time.Now()
		backend.fail(errDown)
		<-lease.Context().Done()
		wantBetween(t, "the lease", time.Since(start), 29*time.Second, 30*time.Second)
		wantCause(t, lease.Context(), lock.ErrLost)
		wantEqual(t, "state", lease.State(), lock.Lost)
		wantErr(t, lease.Err(), lock.ErrLost)
		wantText(t, lease.Err(), "not renewed in time")
		wantErr(t, lease.Unlock(t.Context()), lock.ErrLost)
		wantEqual(t, "state", lease.State(), lock.Lost)
	})
}

// TestALockTakenAwayIsLostAtOnce where its holder is told, and else at the next renewal.
func TestALockTakenAwayIsLostAtOnce(t *testing.T) {
	for _, told := range []bool{true, false} {
		virtual(t, func(t *testing.T) {
			store := memlock.NewStore(nil)
			way := &mailbox{faulty: newFaulty(store)}
			way.closed.Store(!told)
			locks, other := open(t, way, nil), open(t, memlock.NewBackend(store), nil)
			start := time.Now()
			lease := mustLock(t, locks.Mutex("a", nil))
			if held, err := other.ForceRelease(t.Context(), "a"); !held || err != nil {
				t.Error(held, err)
			}
			<-lease.Context().Done()
			if took := time.Since(start); told {
				wantEqual(t, "the news took", took, 0)
			} else {
				wantBetween(t, "the news", took, 12*time.Second, 16*time.Second)
			}
			wantCause(t, lease.Context(), lock.ErrLost)
			wantEqual(t, "state", lease.State(), lock.Lost)
			mustUnlock(t, mustLock(t, locks.Mutex("a", nil)))
		})
	}
}

// TestTakenIsToldLate: a message of an owner that is over ends no other lease.
func TestTakenIsToldLate(t *testing.T) {
	virtual(t, func(t *testing.T) {
		way := &mailbox{faulty: newFaulty(nil)}
		locks := open(t, way, nil)
		before := mustLock(t, locks.Mutex("a", nil))
		mustUnlock(t, before)
		late := driver.Message{Name: "a", Owner: before.Owner(), Kind: driver.Taken}
		way.tell(late)
		lease := mustLock(t, locks.Mutex("a", nil))
		way.tell(late)
		synctest.Wait()
		wantEqual(t, "state", lease.State(), lock.Held)
		mustUnlock(t, lease)
		closeNow(t, locks)
		way.tell(driver.Message{Name: "a", Owner: lease.Owner(), Kind: driver.Taken})
	})
}

func TestUnlockSaysThatTheLockWasTakenAway(t *testing.T) {
	virtual(t, func(t *testing.T) {
		locks := openMem(t, nil)
		lease := mustLock(t, locks.Mutex("a", nil))
		if _, err := locks.ForceRelease(t.Context(), "a"); err != nil {
			t.Error(err)
		}
		wantErr(t, lease.Unlock(t.Context()), lock.ErrLost)
	})
}

func TestTheNextInTheQueueGoesOnAfterALoss(t *testing.T) {
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		locks := open(t, backend, nil)
		lease := mustLock(t, locks.Mutex("a", nil))
		waiting := lockLater(t, t.Context(), locks.Mutex("a", nil))
		backend.set(hooks{renew: failRenewals(errDown)})
		<-lease.Context().Done()
		backend.heal()
		next := <-waiting
		wantErr(t, next.err, nil)
		if next.lease.Token() <= lease.Token() {
			t.Errorf("token %d after %d", next.lease.Token(), lease.Token())
		}
		wantErr(t, lease.Unlock(t.Context()), lock.ErrLost) // must not end the next one's
		wantEqual(t, "state of the next", next.lease.State(), lock.Held)
		mustUnlock(t, next.lease)
	})
}

// The backend did renew the lease, but its answers were lost. The holder has
// stopped by its own clock; others need not wait for the backend's.
func TestALeaseLostByTheClockIsTakenBack(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		backend := newFaulty(store)
		locks, other := open(t, backend, nil), open(t, memlock.NewBackend(store), nil)
		lease := mustLock(t, locks.Mutex("a", nil))
		backend.set(hooks{renew: func(ctx context.Context, grants []driver.Grant) []error {
			backend.Backend.Renew(ctx, grants)
			return allFail(grants, errMute)
		}})
		<-lease.Context().Done()
		start := time.Now()
		mustUnlock(t, mustLock(t, other.Mutex("a", nil)))
		wantBetween(t, "the lock was free", time.Since(start), 0, time.Second)
	})
}

// No timer runs while a machine sleeps; afterwards the lease looks young to
// whoever asks Go's monotonic clock.
func TestASuspendIsSeenWithinASecond(t *testing.T) {
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		locks := open(t, backend, &lock.Options{TTL: time.Hour})
		lease := mustLock(t, locks.Mutex("a", nil))
		time.Sleep(time.Minute)
		backend.suspend(2 * time.Hour)
		start := time.Now()
		<-lease.Context().Done()
		wantBetween(t, "the news", time.Since(start), 0, time.Second)
		wantCause(t, lease.Context(), lock.ErrLost)
	})
}

func TestASuspendIsSeenAtOnceByWhoAsks(t *testing.T) {
	asks := map[string]func(*lock.Lease) error{
		"State": func(l *lock.Lease) error {
			if l.State() != lock.Lost {
				return nil
			}
			return lock.ErrLost
		},
		"Err":    func(l *lock.Lease) error { return l.Err() },
		"Unlock": func(l *lock.Lease) error { return l.Unlock(context.Background()) },
	}
	for name, ask := range asks {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				backend := newFaulty(nil)
				locks := open(t, backend, nil)
				lease := mustLock(t, locks.Mutex("a", nil))
				backend.suspend(time.Minute)
				wantErr(t, ask(lease), lock.ErrLost)
				wantCause(t, lease.Context(), lock.ErrLost)
			})
		})
	}
}

// A lease that ran out during a suspend must not be passed on to the next
// goroutine: somebody else may have the lock.
func TestALeaseThatHasRunOutIsNotHandedOff(t *testing.T) {
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		locks := open(t, backend, nil)
		blocker := mustLock(t, locks.Mutex("a", nil))
		first := lockLater(t, t.Context(), locks.Mutex("a", nil))
		second := lockLater(t, t.Context(), locks.Mutex("a", nil))
		mustUnlock(t, blocker)
		held := granted(t, first) // of a grant that has tokens left
		backend.suspend(time.Minute)
		wantErr(t, held.Unlock(t.Context()), lock.ErrLost)
		next := granted(t, second)
		if next.Owner() == held.Owner() {
			t.Error("a lease that had run out was passed on")
		}
		mustUnlock(t, next)
	})
}

func TestALossIsLoggedOnce(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var log bytes.Buffer
		backend := newFaulty(nil)
		locks := open(t, backend, &lock.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		lease := mustLock(t, locks.Mutex("orders/42", nil))
		backend.set(hooks{renew: failRenewals(errDown)})
		time.Sleep(time.Minute)
		synctest.Wait() // the loss is logged after it has been told
		wantEqual(t, "state", lease.State(), lock.Lost)
		text := log.String()
		wantEqual(t, "late", strings.Count(text, `level=WARN msg="lock: renewal is late"`), 1)
		wantEqual(t, "lost", strings.Count(text, `level=WARN msg="lock: lost"`), 1)
		for _, part := range []string{
			"name=orders/42", "owner=" + driver.PublicOwner(lease.Owner()),
			fmt.Sprintf("token=%d ", lease.Token()), "not renewed in time", "connection refused",
		} {
			if !strings.Contains(text, part) {
				t.Errorf("the log does not say %q:\n%s", part, text)
			}
		}
	})
}
