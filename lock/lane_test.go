package lock_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// While a slow renewal is under way another lease falls due, and is unlocked before
// its turn comes: there is nothing left to send. What is held, and what is taken
// later, must be renewed all the same.
func TestAnUnlockedLeaseDoesNotEndTheRenewalOfOthers(t *testing.T) {
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		backend.set(hooks{renew: slowRenewals(backend, 2*time.Second)})
		locks := open(t, backend, &lock.Options{TTL: 30 * time.Second})
		kept := mustLock(t, locks.Mutex("kept", nil)) // falls due after 13.5 to 15 s
		time.Sleep(time.Second)
		dropped := mustLock(t, locks.Mutex("dropped", nil)) // and this at most 2.5 s later
		for backend.renewals.Load() == 0 {
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(1900 * time.Millisecond)
		mustUnlock(t, dropped)
		backend.heal()
		time.Sleep(5 * time.Minute)
		wantErr(t, kept.Err(), nil)
		later := mustLock(t, locks.Mutex("later", nil))
		time.Sleep(time.Minute)
		wantErr(t, later.Err(), nil)
	})
}

// The same without a plan: many leases that are unlocked at about the time when
// they are renewed.
func TestLeasesUnlockedWhenTheyFallDueEndNoOther(t *testing.T) {
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		backend.set(hooks{renew: func(ctx context.Context, grants []driver.Grant) []error {
			time.Sleep(rand.N(20 * time.Millisecond))
			return backend.Backend.Renew(ctx, grants)
		}})
		locks := open(t, backend, &lock.Options{TTL: time.Second})
		kept := mustLock(t, locks.Mutex("kept", nil))
		var group sync.WaitGroup
		for i := range 30 {
			group.Go(func() {
				for range 200 {
					lease := mustLock(t, locks.Mutex(fmt.Sprint(i), nil))
					time.Sleep(450*time.Millisecond + rand.N(60*time.Millisecond))
					mustUnlock(t, lease)
				}
			})
		}
		group.Wait()
		wantErr(t, kept.Err(), nil)
	})
}
