package lock_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

func TestASemaphoreHasSoManyPermits(t *testing.T) {
	virtual(t, func(t *testing.T) {
		a, b := twoProcesses(t, nil)
		here, there := a.Semaphore("a", 3, nil), b.Semaphore("a", 3, nil)
		one, two := mustLock(t, here), mustLock(t, there.Permits(2))
		refusedNow(t, here)
		waiting := lockLater(t, t.Context(), there)
		stillWaits(t, waiting)
		mustUnlock(t, one)
		three := granted(t, waiting)
		info, err := a.Inspect(t.Context(), "a")
		wantErr(t, err, nil)
		wantEqual(t, "limit", info.Limit, 3)
		wantEqual(t, "kind", info.Kind, driver.Semaphore)
		wantEqual(t, "holders", len(info.Holders), 2)
		mustUnlock(t, two)
		mustUnlock(t, three)
		mustUnlock(t, mustTryLock(t, here.Permits(3)))
	})
}

// TestTriesOfOneProcessRefuseEachOther: there are permits for all, but they ask one after the other.
func TestTriesOfOneProcessRefuseEachOther(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := newFaulty(memlock.NewStore(nil))
		store.set(hooks{acquire: func(ctx context.Context, req driver.Request) (driver.Grant, error) {
			time.Sleep(time.Millisecond) // all others come meanwhile
			return store.Backend.Acquire(ctx, req)
		}})
		s := open(t, store, nil).Semaphore("a", 8, nil)
		var got atomic.Int32
		for range 16 {
			go func() {
				if lease, err := s.TryLock(t.Context()); err == nil {
					got.Add(1)
					time.Sleep(time.Second)
					mustUnlock(t, lease)
				}
			}()
		}
		time.Sleep(2 * time.Second)
		wantEqual(t, "permits had", got.Load(), 8)
	})
}

func TestMaxHoldTakesTheLockAway(t *testing.T) {
	virtual(t, func(t *testing.T) {
		seen := &recorder{}
		a, b := twoProcesses(t, &lock.Options{Observer: seen, TTL: 10 * time.Second})
		lease := mustLock(t, a.Mutex("a", &lock.MutexOptions{MaxHold: time.Minute}))
		start := time.Now()
		next := lockLater(t, t.Context(), b.Mutex("a", nil))
		<-lease.Context().Done()
		wantBetween(t, "held for", time.Since(start), time.Minute, time.Minute+5*time.Millisecond)
		wantCause(t, lease.Context(), lock.ErrLost)
		wantText(t, lease.Err(), "held for as long as it may be")
		mustUnlock(t, granted(t, next))
		wantBetween(t, "next after", time.Since(start), time.Minute, time.Minute+20*time.Millisecond)
		const warned = 48 * time.Second
		wantBetween(t, "warned after", seen.last(lock.EventOverdue).Held, warned, warned+5*time.Millisecond)
		wantBetween(t, "lost after", seen.last(lock.EventLost).Held, time.Minute, time.Minute+5*time.Millisecond)
	})
}

// TestMaxHoldShorterThanTheTTL is as long for who never renews.
func TestMaxHoldShorterThanTheTTL(t *testing.T) {
	virtual(t, func(t *testing.T) {
		for _, fixed := range []bool{false, true} {
			a, b := twoProcesses(t, nil)
			lease := mustLock(t, a.Mutex("a", &lock.MutexOptions{MaxHold: time.Second, Fixed: fixed}))
			start := time.Now()
			next := lockLater(t, t.Context(), b.Mutex("a", nil))
			<-lease.Context().Done()
			wantBetween(t, "held for", time.Since(start), time.Second, time.Second+5*time.Millisecond)
			wantText(t, lease.Err(), "held for as long as it may be")
			mustUnlock(t, granted(t, next))
		}
	})
}

func TestKindsOfOneNameAreRefused(t *testing.T) {
	virtual(t, func(t *testing.T) {
		a, b := twoProcesses(t, nil)
		for held, l := range map[driver.Kind]lock.Lockable{
			driver.Mutex: a.Mutex("a", nil), driver.ReadWrite: a.RWMutex("a", nil).Reader(),
			driver.Semaphore: a.Semaphore("a", 2, nil),
		} {
			lease := mustLock(t, l)
			for _, locks := range []*lock.Client{a, b} {
				for wanted, l := range map[driver.Kind]lock.Lockable{
					driver.Mutex: locks.Mutex("a", nil), driver.ReadWrite: locks.RWMutex("a", nil).Writer(),
					driver.Semaphore: locks.Semaphore("a", 2, nil),
				} {
					if wanted != held {
						_, err := l.Lock(t.Context())
						wantErr(t, err, lock.ErrKind)
						wantText(t, err, held.String(), wanted.String())
					}
				}
			}
			mustUnlock(t, lease)
		}
	})
}

func TestASemaphoreIsNotReentered(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s := openMem(t, nil).Semaphore("a", 2, nil)
		one := mustLock(t, s)
		two := mustLockIn(t, one.Context(), s)
		refusedNow(t, s)
		mustUnlock(t, one)
		refusedNow(t, s.Permits(2))
		mustUnlock(t, two)
	})
}

func TestPermitsNobodyCanHave(t *testing.T) {
	virtual(t, func(t *testing.T) {
		locks := openMem(t, nil)
		for _, test := range []struct {
			l            lock.Lockable
			field, limit string
		}{
			{locks.Semaphore("a", 0, nil), "limit", "1 to"},
			{locks.Semaphore("a", -1, nil).Permits(1), "limit", "1 to"},
			{locks.Semaphore("a", lock.MaxPermits+1, nil), "limit", "1048576"},
			{locks.Semaphore("a", 3, nil).Permits(0), "permits", "1 to 3"},
			{locks.Semaphore("a", 3, nil).Permits(-2), "permits", "1 to 3"},
			{locks.Semaphore("a", 3, nil).Permits(4), "permits", "1 to 3"},
			{locks.Mutex("a", &lock.MutexOptions{MaxHold: -time.Second}), "maxHold", "1000h"},
			{locks.Mutex("a", &lock.MutexOptions{MaxHold: time.Millisecond}), "maxHold", "10ms"},
			{locks.Mutex("a", &lock.MutexOptions{MaxHold: time.Second, MinHold: time.Minute}), "maxHold", "1m0s"},
			{locks.Mutex("", &lock.MutexOptions{MaxHold: -1}), "maxHold", "1000h"},
			{locks.RWMutex("", nil).Reader(), "name", "empty"},
			{locks.RWMutex("a", &lock.RWMutexOptions{TTL: 1}).Writer(), "ttl", "10ms"},
		} {
			_, err := test.l.Lock(t.Context())
			wantInvalid(t, err, test.field, test.limit)
			_, err = test.l.TryLock(t.Context())
			wantInvalid(t, err, test.field, test.limit)
		}
	})
}
