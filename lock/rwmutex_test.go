package lock_test

import (
	"context"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// twoProcesses returns two clients of one store.
func twoProcesses(t *testing.T, opts *lock.Options) (one, other *lock.Client) {
	t.Helper()
	store := memlock.NewStore(nil)
	return open(t, memlock.NewBackend(store), opts), open(t, memlock.NewBackend(store), opts)
}

// stillWaits checks that a Lock in another goroutine has not ended.
func stillWaits(t *testing.T, done <-chan outcome) {
	t.Helper()
	time.Sleep(time.Millisecond)
	select {
	case o := <-done:
		t.Fatalf("the wait has ended: %v", o.err)
	default:
	}
}

// refusedNow checks that the lock cannot be had at once.
func refusedNow(t *testing.T, l lock.Lockable) {
	t.Helper()
	lease, err := l.TryLock(t.Context())
	wantErr(t, err, lock.ErrHeld)
	if lease != nil {
		t.Fatalf("%q was granted with token %d", l.Name(), lease.Token())
	}
}

func TestReadersShareTheLockAndWritersDoNot(t *testing.T) {
	virtual(t, func(t *testing.T) {
		a, b := twoProcesses(t, nil)
		here, there := a.RWMutex("a", nil), b.RWMutex("a", nil)
		first, second, third := mustLock(t, here.Reader()), mustLock(t, here.Reader()), mustLock(t, there.Reader())
		wantEqual(t, "the owner of a second reader of the process", second.Owner(), first.Owner())
		refusedNow(t, here.Writer())
		refusedNow(t, there.Writer())
		writer := lockLater(t, t.Context(), there.Writer())
		mustUnlock(t, first)
		mustUnlock(t, second)
		stillWaits(t, writer)
		refusedNow(t, here.Reader()) // the writer goes first
		mustUnlock(t, third)
		w := granted(t, writer)
		if w.Token() <= third.Token() {
			t.Errorf("the writer's token %d is not above the reader's, %d", w.Token(), third.Token())
		}
		refusedNow(t, here.Reader())
		refusedNow(t, here.Writer())
		reader := lockLater(t, t.Context(), here.Reader())
		mustUnlock(t, w)
		mustUnlock(t, granted(t, reader))
		mustUnlock(t, mustTryLock(t, there.Writer()))
	})
}

func TestReadersOfAProcessBehindAWriterComeTogether(t *testing.T) {
	virtual(t, func(t *testing.T) {
		a, _ := twoProcesses(t, nil)
		rw := a.RWMutex("a", nil)
		w := mustLock(t, rw.Writer())
		var readers []<-chan outcome
		for range 5 {
			readers = append(readers, lockLater(t, t.Context(), rw.Reader()))
		}
		next := lockLater(t, t.Context(), rw.Writer())
		late := lockLater(t, t.Context(), rw.Reader())
		mustUnlock(t, w)
		owners := make(map[string]bool)
		var leases []*lock.Lease
		for _, r := range readers {
			lease := granted(t, r)
			owners[lease.Owner()] = true
			leases = append(leases, lease)
		}
		wantEqual(t, "grants of five readers", len(owners), 1)
		for _, lease := range leases {
			stillWaits(t, next)
			stillWaits(t, late)
			mustUnlock(t, lease)
		}
		mustUnlock(t, granted(t, next))
		mustUnlock(t, granted(t, late))
	})
}

// TestAReaderPassesTheWriterOfItsOwnProcess: there is a lease to read that it could share.
func TestAReaderPassesTheWriterOfItsOwnProcess(t *testing.T) {
	virtual(t, func(t *testing.T) {
		a, _ := twoProcesses(t, nil)
		rw := a.RWMutex("a", nil)
		r := mustLock(t, rw.Reader())
		writer := lockLater(t, t.Context(), rw.Writer())
		reader := lockLater(t, t.Context(), rw.Reader())
		refusedNow(t, rw.Reader())
		stillWaits(t, reader)
		mustUnlock(t, r)
		w := granted(t, writer)
		stillWaits(t, reader)
		mustUnlock(t, w)
		mustUnlock(t, granted(t, reader))
	})
}

func TestAnUpgradeWritesOverItsOwnReader(t *testing.T) {
	virtual(t, func(t *testing.T) {
		a, b := twoProcesses(t, nil)
		here, there := a.RWMutex("a", nil), b.RWMutex("a", nil)
		r, err := here.RLockUpgradeable(t.Context())
		wantErr(t, err, nil)
		_, err = there.TryRLockUpgradeable(t.Context())
		wantErr(t, err, lock.ErrHeld)
		other := mustLock(t, there.Reader())
		_, err = r.TryUpgrade(t.Context())
		wantErr(t, err, lock.ErrHeld)
		done := make(chan *lock.Lease, 1)
		go func() {
			w, err := r.Upgrade(t.Context())
			wantErr(t, err, nil)
			done <- w
		}()
		time.Sleep(time.Second)
		refusedNow(t, there.Reader()) // the upgrade goes first
		mustUnlock(t, other)
		w := <-done
		refusedNow(t, there.Reader())
		if w.Token() <= other.Token() || w.Token() <= r.Token() {
			t.Errorf("the writer's token is %d, the readers' %d and %d", w.Token(), r.Token(), other.Token())
		}
		time.Sleep(2 * time.Minute)
		wantEqual(t, "state", w.State(), lock.Held)
		again, err := r.Upgrade(w.Context())
		wantErr(t, err, nil)
		mustUnlock(t, again)
		mustUnlock(t, w)
		wantEqual(t, "state of the reader", r.State(), lock.Held)
		mustUnlock(t, mustLock(t, there.Reader()))
		refusedNow(t, there.Writer())
		mustUnlock(t, r)
		mustUnlock(t, mustTryLock(t, there.Writer()))
		_, err = r.Upgrade(t.Context())
		wantErr(t, err, lock.ErrReleased)
	})
}

func TestADowngradeLetsNoWriterIn(t *testing.T) {
	virtual(t, func(t *testing.T) {
		a, b := twoProcesses(t, nil)
		here, there := a.RWMutex("a", nil), b.RWMutex("a", nil)
		w := mustLock(t, here.Writer())
		reader, writer := lockLater(t, t.Context(), there.Reader()), lockLater(t, t.Context(), here.Writer())
		r, err := w.Downgrade(t.Context())
		wantErr(t, err, nil)
		wantEqual(t, "state of the writer", w.State(), lock.Released)
		mustUnlock(t, granted(t, reader))
		stillWaits(t, writer)
		mustUnlock(t, r)
		mustUnlock(t, granted(t, writer))
		_, err = r.Downgrade(t.Context())
		wantErr(t, err, lock.ErrInvalid)
	})
}

func TestAReaderThatAsksToWriteWouldWaitForItself(t *testing.T) {
	virtual(t, func(t *testing.T) {
		a, _ := twoProcesses(t, nil)
		rw := a.RWMutex("a", nil)
		r := mustLock(t, rw.Reader())
		_, err := rw.Lock(r.Context())
		wantInvalid(t, err, "ctx", "in the way of one to write")
		mustUnlock(t, mustLockIn(t, r.Context(), rw.Reader()))
		mustUnlock(t, r)
		w := mustLock(t, rw.Writer())
		inner := mustLockIn(t, w.Context(), rw.Reader())
		mustUnlock(t, w)
		refusedNow(t, rw.Reader())
		mustUnlock(t, inner)
		mustUnlock(t, mustTryLock(t, rw.Reader()))
	})
}

// TestAWriterIsStarvedByReaders: readers come and go all the while, and never are all of them gone.
func TestAWriterIsStarvedByReaders(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		ctx, end := context.WithCancel(t.Context())
		defer end()
		for i := range 3 {
			locks := open(t, memlock.NewBackend(store), nil)
			for j := range 3 {
				go func() {
					time.Sleep(time.Duration(3*i+j) * 7 * time.Millisecond)
					for ctx.Err() == nil {
						if lease, err := locks.RWMutex("a", nil).RLock(ctx); err == nil {
							time.Sleep(50 * time.Millisecond)
							mustUnlock(t, lease)
						}
					}
				}()
			}
		}
		time.Sleep(time.Second)
		for range 20 {
			locks := open(t, memlock.NewBackend(store), nil)
			start := time.Now()
			mustUnlock(t, mustLock(t, locks.RWMutex("a", nil).Writer()))
			wantBetween(t, "the writer's wait", time.Since(start), 0, 200*time.Millisecond)
		}
		end()
		time.Sleep(time.Second)
	})
}

func TestAWriterThatGivesUpKeepsReadersOff(t *testing.T) {
	virtual(t, func(t *testing.T) {
		a, b := twoProcesses(t, nil)
		here, there := a.RWMutex("a", nil), b.RWMutex("a", nil)
		r := mustLock(t, here.Reader())
		ctx, cancel := context.WithCancel(t.Context())
		writer := lockLater(t, ctx, there.Writer())
		time.Sleep(time.Second)
		refusedNow(t, here.Reader())
		cancel()
		wantErr(t, (<-writer).err, context.Canceled)
		time.Sleep(10 * time.Millisecond)
		mustUnlock(t, mustTryLock(t, here.Reader()))
		mustUnlock(t, r)
	})
}

// TestAWriterWaitsForLongerThanItsClaim: it asks again in time, so that readers are kept off all the while.
func TestAWriterWaitsForLongerThanItsClaim(t *testing.T) {
	virtual(t, func(t *testing.T) {
		a, b := twoProcesses(t, nil)
		here, there := a.RWMutex("a", nil), b.RWMutex("a", nil)
		r := mustLock(t, here.Reader())
		writer := lockLater(t, t.Context(), there.Writer())
		time.Sleep(20 * time.Millisecond)
		for range 300 {
			time.Sleep(100 * time.Millisecond)
			refusedNow(t, here.Reader())
		}
		mustUnlock(t, r)
		mustUnlock(t, granted(t, writer))
	})
}

// TestReadersFirstLetsReadersComeAndGo: a writer that is told so keeps nobody off.
func TestReadersFirstLetsReadersComeAndGo(t *testing.T) {
	virtual(t, func(t *testing.T) {
		a, b := twoProcesses(t, nil)
		here, there := a.RWMutex("a", nil), b.RWMutex("a", &lock.RWMutexOptions{ReadersFirst: true})
		r := mustLock(t, here.Reader())
		writer := lockLater(t, t.Context(), there.Writer())
		time.Sleep(time.Second)
		next := mustTryLock(t, here.Reader())
		mustUnlock(t, r)
		stillWaits(t, writer)
		mustUnlock(t, next)
		mustUnlock(t, granted(t, writer))
	})
}

// TestALeaseOfAReaderThatIsLostEndsForAll who share its grant.
func TestALeaseOfAReaderThatIsLostEndsForAll(t *testing.T) {
	virtual(t, func(t *testing.T) {
		a, b := twoProcesses(t, nil)
		rw := a.RWMutex("a", nil)
		one, two := mustLock(t, rw.Reader()), mustLock(t, rw.Reader())
		ctx := two.Context()
		held, err := b.ForceRelease(t.Context(), "a")
		wantErr(t, err, nil)
		wantEqual(t, "held", held, true)
		<-ctx.Done()
		wantCause(t, one.Context(), lock.ErrLost)
		wantErr(t, one.Unlock(t.Context()), lock.ErrLost)
		wantErr(t, two.Unlock(t.Context()), lock.ErrLost)
	})
}

// TestAnUnlockedReaderReenters the grant that others share: its context outlives it.
func TestAnUnlockedReaderReenters(t *testing.T) {
	virtual(t, func(t *testing.T) {
		a, b := twoProcesses(t, nil)
		rw := a.RWMutex("a", nil)
		one, two := mustLock(t, rw.Reader()), mustLock(t, rw.Reader())
		late := context.WithoutCancel(one.Context())
		mustUnlock(t, one)
		writer := lockLater(t, t.Context(), b.RWMutex("a", nil).Writer())
		time.Sleep(time.Second)
		if again, err := rw.Reader().TryLock(late); err == nil {
			t.Error("it was entered again while a writer waits")
			mustUnlock(t, again)
		}
		mustUnlock(t, two)
		mustUnlock(t, granted(t, writer))
	})
}

// TestADowngradeEndsTheContextOfTheReader: the lease to read goes on when the one to write ends, and its context, too,
// although that was made from the writer's, as in a function that [lock.Do] has called.
func TestADowngradeEndsTheContextOfTheReader(t *testing.T) {
	virtual(t, func(t *testing.T) {
		type key struct{}
		locks := openMem(t, nil)
		w := mustLockIn(t, context.WithValue(t.Context(), key{}, "outside"), locks.RWMutex("a", nil).Writer())
		below := mustLockIn(t, w.Context(), locks.Mutex("b", nil))
		r, err := w.Downgrade(below.Context())
		wantErr(t, err, nil)
		wantErr(t, w.Context().Err(), context.Canceled)
		wantErr(t, r.Context().Err(), nil)
		wantEqual(t, "value of the context", r.Context().Value(key{}), any("outside"))
		mustUnlock(t, below)
		mustUnlock(t, r)
		wantErr(t, r.Context().Err(), context.Canceled)
	})
}
