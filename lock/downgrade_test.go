package lock_test

import (
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// upgraded upgrades a lease in a goroutine of its own, and lets it wait for a second.
func upgraded(t *testing.T, reading *lock.Lease) <-chan outcome {
	t.Helper()
	done := make(chan outcome, 1)
	go func() {
		lease, err := reading.Upgrade(t.Context())
		done <- outcome{lease: lease, err: err}
	}()
	time.Sleep(time.Second)
	return done
}

// TestADowngradeHandsTheWriterOn to the next writer of its process.
func TestADowngradeHandsTheWriterOn(t *testing.T) {
	virtual(t, func(t *testing.T) {
		a, _ := twoProcesses(t, nil)
		rw := a.RWMutex("a", nil)
		first := mustLock(t, rw.Writer())
		second, third := lockLater(t, t.Context(), rw.Writer()), lockLater(t, t.Context(), rw.Writer())
		mustUnlock(t, first)
		reading, err := granted(t, second).Downgrade(t.Context())
		wantErr(t, err, nil)
		stillWaits(t, third)
		mustUnlock(t, reading)
		mustUnlock(t, granted(t, third))
	})
}

// TestADowngradedUpgradeIsHandedOn: there are two upgrades of one reader.
func TestADowngradedUpgradeIsHandedOn(t *testing.T) {
	virtual(t, func(t *testing.T) {
		a, b := twoProcesses(t, nil)
		u, err := a.RWMutex("a", nil).RLockUpgradeable(t.Context())
		wantErr(t, err, nil)
		other := mustLock(t, b.RWMutex("a", nil).Reader())
		first, second := upgraded(t, u), upgraded(t, u)
		mustUnlock(t, other)
		r, err := granted(t, first).Downgrade(t.Context())
		wantErr(t, err, nil)
		stillWaits(t, second)
		mustUnlock(t, r)
		mustUnlock(t, granted(t, second))
		mustUnlock(t, u)
	})
}

// TestADowngradeLeavesOneThatEnteredMeanwhile with the lock to write.
func TestADowngradeLeavesOneThatEnteredMeanwhile(t *testing.T) {
	virtual(t, func(t *testing.T) {
		a := open(t, newDistant(memlock.NewStore(nil), 5*time.Millisecond), nil)
		rw := a.RWMutex("a", nil)
		w := mustLock(t, rw.Writer())
		entered := make(chan error, 1)
		go func() {
			time.Sleep(3 * time.Millisecond)
			_, err := rw.Lock(w.Context())
			entered <- err
		}()
		r, err := w.Downgrade(t.Context())
		wantErr(t, err, nil)
		if <-entered == nil {
			t.Error("it was entered to write while it was downgraded")
		}
		mustUnlock(t, r)
	})
}

// TestADowngradeThatFailsEndsTheLease, which goes on to serve those who enter it.
func TestADowngradeThatFailsEndsTheLease(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := newFaulty(memlock.NewStore(nil))
		rw := open(t, store, nil).RWMutex("a", nil)
		w := mustLock(t, rw.Writer())
		store.fail(driver.ErrUnavailable)
		if _, err := w.Downgrade(t.Context()); err == nil {
			t.Error("it was downgraded by a store that fails")
		}
		store.set(hooks{})
		mustUnlock(t, mustLockIn(t, w.Context(), rw.Writer()))
		mustUnlock(t, w)
	})
}

// TestAnUpgradeDoesNotSayThatItsReaderIsLost: it was taken away by force.
func TestAnUpgradeDoesNotSayThatItsReaderIsLost(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		a, b := open(t, newFaulty(store), nil), open(t, memlock.NewBackend(store), nil) // a hears of nothing
		u, err := a.RWMutex("a", nil).RLockUpgradeable(t.Context())
		wantErr(t, err, nil)
		_, err = b.ForceRelease(t.Context(), "a")
		wantErr(t, err, nil)
		_, err = u.TryUpgrade(t.Context())
		wantErr(t, err, lock.ErrLost)
		wantEqual(t, "state of the reader", u.State(), lock.Lost)
	})
}

func TestAStopEndsUpgrades(t *testing.T) {
	virtual(t, func(t *testing.T) {
		a, b := twoProcesses(t, nil)
		u, err := a.RWMutex("a", nil).RLockUpgradeable(t.Context())
		wantErr(t, err, nil)
		w, err := u.Upgrade(t.Context())
		wantErr(t, err, nil)
		wantErr(t, a.Stop(t.Context()), nil)
		wantErr(t, w.Unlock(t.Context()), lock.ErrClosed)
		wantErr(t, u.Unlock(t.Context()), lock.ErrClosed)
		mustUnlock(t, mustTryLock(t, b.RWMutex("a", nil).Writer()))
	})
}
