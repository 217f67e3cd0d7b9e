package lock_test

import (
	"context"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// TestAMinHoldAndItsCleanUpRaceForTheRequestsUnderWay: when the minimum is over before the
// store is back, the clean-up and whoever keeps the lock wait for the same requests. Seen
// with -race.
func TestAMinHoldAndItsCleanUpRaceForTheRequestsUnderWay(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		backend := newFaulty(store)
		locks, other := open(t, backend, &lock.Options{TTL: time.Hour}), open(t, memlock.NewBackend(store), nil)
		var ends []chan struct{}
		backend.set(hooks{acquire: func(context.Context, driver.Request) (driver.Grant, error) {
			end := make(chan struct{})
			if ends = append(ends, end); len(ends) == 2 {
				backend.heal()
			}
			return driver.Grant{}, &driver.UnderwayError{Err: errDown, Ended: end}
		}})
		lease := mustLock(t, locks.Mutex("a", &lock.MutexOptions{MinHold: time.Minute}))
		backend.fail(errDown)
		if err := lease.Unlock(t.Context()); !lock.MaybeApplied(err) {
			t.Errorf("unlock: %v", err)
		}
		time.Sleep(2 * time.Minute) // the minimum is over before the store is back
		backend.heal()
		time.Sleep(time.Second)
		for _, end := range ends {
			close(end)
		}
		time.Sleep(time.Minute)
		mustUnlock(t, mustLock(t, other.Mutex("a", nil)))
	})
}

// TestAMinHoldThatPassedInASuspendIsKeptOnceMore: the client's clock goes on while the machine
// sleeps, or a [bedrocktest.Clock] is advanced; Go's own does not.
func TestAMinHoldThatPassedInASuspendIsKeptOnceMore(t *testing.T) {
	clock := bedrocktest.NewClock()
	store := clock.LockStore()
	locks := open(t, memlock.NewBackend(store), &lock.Options{TTL: time.Hour})
	other := open(t, memlock.NewBackend(store), nil)
	lease := mustLock(t, locks.Mutex("a", &lock.MutexOptions{MinHold: time.Minute}))
	clock.Advance(10 * time.Minute)
	mustUnlock(t, lease)
	next, err := other.Mutex("a", nil).TryLock(t.Context())
	wantErr(t, err, nil)
	mustUnlock(t, next)
}
