package lock_test

import (
	"context"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// upgradeLater takes an upgradeable reader in a goroutine of its own.
func upgradeLater(ctx context.Context, rw *lock.RWMutex) <-chan outcome {
	done := make(chan outcome, 1)
	go func() {
		lease, err := rw.RLockUpgradeable(ctx)
		done <- outcome{lease: lease, err: err}
	}()
	time.Sleep(time.Second)
	return done
}

// TestAPlainReaderWaitsForAnUpgradeableOne, of which there is one at a time.
func TestAPlainReaderWaitsForAnUpgradeableOne(t *testing.T) {
	virtual(t, func(t *testing.T) {
		a, b := twoProcesses(t, nil)
		here, there := a.RWMutex("a", nil), b.RWMutex("a", nil)
		held, err := there.RLockUpgradeable(t.Context())
		wantErr(t, err, nil)
		next := upgradeLater(t.Context(), here)
		mustUnlock(t, mustTryLock(t, here.Reader()))
		mustUnlock(t, mustLock(t, here.Reader()))
		stillWaits(t, next)
		mustUnlock(t, held)
		mustUnlock(t, granted(t, next))
	})
}

// TestReadersFirstKeepsReadersOfItsProcessOff, with a writer at the front of the queue.
func TestReadersFirstKeepsReadersOfItsProcessOff(t *testing.T) {
	virtual(t, func(t *testing.T) {
		a, b := twoProcesses(t, nil)
		rw := a.RWMutex("a", &lock.RWMutexOptions{ReadersFirst: true})
		r := mustLock(t, b.RWMutex("a", nil).Reader())
		writer := lockLater(t, t.Context(), rw.Writer())
		time.Sleep(time.Second)
		mustUnlock(t, mustLock(t, rw.Reader()))
		stillWaits(t, writer)
		mustUnlock(t, r)
		mustUnlock(t, granted(t, writer))
	})
}

func TestAnUpgradeForgetsReadersFirst(t *testing.T) {
	virtual(t, func(t *testing.T) {
		a, b := twoProcesses(t, nil)
		here, there := a.RWMutex("a", &lock.RWMutexOptions{ReadersFirst: true}), b.RWMutex("a", nil)
		reading, err := here.RLockUpgradeable(t.Context())
		wantErr(t, err, nil)
		other := mustLock(t, there.Reader())
		done := upgraded(t, reading)
		mustUnlock(t, mustTryLock(t, there.Reader()))
		mustUnlock(t, other)
		mustUnlock(t, granted(t, done))
		mustUnlock(t, reading)
	})
}

// tryLater tries in a goroutine of its own, whose request is under way from then on.
func tryLater(t *testing.T, l lock.Lockable) <-chan error {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		lease, err := l.TryLock(t.Context())
		if err == nil {
			mustUnlock(t, lease)
		}
		done <- err
	}()
	time.Sleep(time.Millisecond)
	return done
}

// TestATryIsRefusedByOneForMore: what it wants is there.
func TestATryIsRefusedByOneForMore(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		a, b := open(t, newDistant(store, 5*time.Millisecond), nil), open(t, memlock.NewBackend(store), nil)
		held := mustLock(t, b.Semaphore("a", 8, nil))
		s := a.Semaphore("a", 8, nil)
		all := tryLater(t, s.Permits(8))
		mustUnlock(t, mustTryLock(t, s))
		wantErr(t, <-all, lock.ErrHeld)
		mustUnlock(t, held)
	})
}

// TestManyTriesAtOnce: none waits for the answer to another one, and all are had.
func TestManyTriesAtOnce(t *testing.T) {
	virtual(t, func(t *testing.T) {
		a := open(t, newDistant(memlock.NewStore(nil), 20*time.Millisecond), nil)
		start := time.Now()
		var done []<-chan outcome
		for _, l := range []lock.Lockable{a.Semaphore("s", 1000, nil), a.RWMutex("rw", nil).Reader()} {
			for range 400 {
				one := make(chan outcome, 1)
				done = append(done, one)
				go func() {
					lease, err := l.TryLock(t.Context())
					one <- outcome{lease, err, time.Since(start)}
				}()
			}
		}
		for _, one := range done {
			o := <-one
			wantErr(t, o.err, nil)
			wantBetween(t, "a try", o.after, 0, 100*time.Millisecond)
			mustUnlock(t, o.lease)
		}
	})
}

// TestATryIsOfAnotherKindThanOneUnderWay: the store says of what kind the name is.
func TestATryIsOfAnotherKindThanOneUnderWay(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		a, b := open(t, newDistant(store, 5*time.Millisecond), nil), open(t, memlock.NewBackend(store), nil)
		held := mustLock(t, b.RWMutex("a", nil).Reader())
		other := tryLater(t, a.Semaphore("a", 2, nil))
		mustUnlock(t, mustTryLock(t, a.RWMutex("a", nil).Reader()))
		wantErr(t, <-other, lock.ErrKind)
		mustUnlock(t, held)
	})
}

// TestATryToReadIsRefusedByOneToWrite: somebody else reads.
func TestATryToReadIsRefusedByOneToWrite(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		a, b := open(t, newDistant(store, 5*time.Millisecond), nil), open(t, memlock.NewBackend(store), nil)
		held := mustLock(t, b.RWMutex("a", nil).Reader())
		writes := tryLater(t, a.RWMutex("a", nil).Writer())
		mustUnlock(t, mustTryLock(t, a.RWMutex("a", nil).Reader()))
		wantErr(t, <-writes, lock.ErrHeld)
		mustUnlock(t, held)
	})
}

// TestATryWaitsBehindOneForMore, for whom there are not enough permits.
func TestATryWaitsBehindOneForMore(t *testing.T) {
	virtual(t, func(t *testing.T) {
		a, b := twoProcesses(t, nil)
		held := mustLock(t, b.Semaphore("a", 8, nil))
		waits := lockLater(t, t.Context(), a.Semaphore("a", 8, nil).Permits(8))
		mustUnlock(t, mustTryLock(t, a.Semaphore("a", 8, nil)))
		stillWaits(t, waits)
		mustUnlock(t, held)
		mustUnlock(t, granted(t, waits))
	})
}

// TestAHigherLimitWaitsForALowerOne in the queue, where one waits who was told the old one.
func TestAHigherLimitWaitsForALowerOne(t *testing.T) {
	virtual(t, func(t *testing.T) {
		a, b := twoProcesses(t, nil)
		held := mustLock(t, b.Semaphore("a", 1, nil))
		waits := lockLater(t, t.Context(), a.Semaphore("a", 1, nil))
		time.Sleep(time.Second)
		mustUnlock(t, mustTryLock(t, a.Semaphore("a", 5, nil)))
		mustUnlock(t, mustLock(t, a.Semaphore("a", 5, nil)))
		mustUnlock(t, held)
		mustUnlock(t, granted(t, waits))
	})
}
