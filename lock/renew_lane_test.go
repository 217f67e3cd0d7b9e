package lock_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
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

// A renewal that can take its time hangs, as over a connection that is dead, while a
// lease falls due behind it that cannot.
func TestARenewalThatHangsDoesNotCostALeaseThatEndsSooner(t *testing.T) {
	for _, ttl := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
		t.Run(ttl.String(), func(t *testing.T) {
			virtual(t, func(t *testing.T) { leaseBehindAHangingRenewal(t, ttl) })
		})
	}
}

func leaseBehindAHangingRenewal(t *testing.T, ttl time.Duration) {
	t.Helper()
	backend := newFaulty(nil)
	hanging, underWay := make(chan struct{}), atomic.Int64{}
	backend.set(hooks{renew: func(ctx context.Context, grants []driver.Grant) []error {
		defer underWay.Add(-1)
		wantEqual(t, "calls under way", underWay.Add(1), 1)
		if backend.renewals.Load() > 1 {
			return backend.Backend.Renew(ctx, grants)
		}
		close(hanging)
		<-ctx.Done()
		return allFail(grants, ctx.Err())
	}})
	locks := open(t, backend, &lock.Options{TTL: time.Minute})
	patient := mustLock(t, locks.Mutex("patient", nil))
	<-hanging
	urgent := mustLock(t, locks.Mutex("urgent", &lock.MutexOptions{TTL: ttl}))
	time.Sleep(time.Minute)
	wantErr(t, urgent.Err(), nil)
	wantErr(t, patient.Err(), nil)
}

// Every call is slow, but answered in time for the shortest lease: leases that fall
// due meanwhile break none off.
func TestSlowRenewalsAreNotBrokenOffForOthers(t *testing.T) {
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		backend.set(hooks{renew: func(ctx context.Context, grants []driver.Grant) []error {
			select {
			case <-time.After(900 * time.Millisecond):
				return backend.Backend.Renew(ctx, grants)
			case <-ctx.Done():
				t.Error("a call was broken off")
				return allFail(grants, ctx.Err())
			}
		}})
		locks := open(t, backend, nil)
		var leases []*lock.Lease
		for i := range 20 {
			ttl := time.Duration(6+6*(i%2)) * time.Second
			leases = append(leases, mustLock(t, locks.Mutex(fmt.Sprint(i), &lock.MutexOptions{TTL: ttl})))
			time.Sleep(130 * time.Millisecond)
		}
		time.Sleep(10 * time.Minute)
		for _, lease := range leases {
			wantErr(t, lease.Err(), nil)
			mustUnlock(t, lease)
		}
	})
}

// Leases that cannot be renewed end one after the other. They wait behind calls for
// those that can, and break none off in their last moments.
func TestLeasesThatAreAllButOverBreakOffNoRenewal(t *testing.T) {
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		dying := func(g driver.Grant) bool { return g.TTL < 10*time.Second }
		backend.set(hooks{renew: func(ctx context.Context, grants []driver.Grant) []error {
			if slices.ContainsFunc(grants, dying) {
				return allFail(grants, errMute)
			}
			select {
			case <-time.After(200 * time.Millisecond):
				return backend.Backend.Renew(ctx, grants)
			case <-ctx.Done():
				t.Error("a call was broken off")
				return allFail(grants, ctx.Err())
			}
		}})
		locks := open(t, backend, nil)
		kept := mustLock(t, locks.Mutex("kept", nil))
		for i := range 2000 {
			mustLock(t, locks.Mutex(fmt.Sprint(i), &lock.MutexOptions{TTL: time.Second}))
			time.Sleep(30 * time.Millisecond)
		}
		wantErr(t, kept.Err(), nil)
	})
}
