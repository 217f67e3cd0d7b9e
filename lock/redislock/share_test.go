package redislock_test

import (
	"sync"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/chaos"
	"github.com/bedrock-go/bedrock/lock"
)

// TestNearbyProcessStarvesTheOthers: who is further from the server hears later that a
// lock is free, and asks later.
func TestNearbyProcessStarvesTheOthers(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds of real time; package lock has it in virtual time")
	}
	for _, way := range []time.Duration{time.Millisecond, 20 * time.Millisecond} {
		t.Run(way.String(), func(t *testing.T) {
			throughProxy(t, time.Minute, func(t *testing.T, p *chaos.Proxy, far, near *lock.Client) {
				p.Delay(way)
				defer p.Heal()
				entered := compete(t, 3*time.Second, 30*time.Millisecond, near, far)
				if all := entered[0] + entered[1]; entered[1] < all/20 {
					t.Errorf("entered %d and %d times", entered[0], entered[1])
				}
			})
		})
	}
}

// compete has every client take one lock time and again, and returns how often each
// of them had it.
func compete(t *testing.T, lasts, hold time.Duration, clients ...*lock.Client) []int {
	t.Helper()
	entered := make([]int, len(clients))
	var group sync.WaitGroup
	for i, locks := range clients {
		group.Go(func() {
			for start := time.Now(); time.Since(start) < lasts; {
				lease, err := locks.Mutex("contended", nil).Lock(ctxFor(t))
				if err != nil {
					t.Error(err)
					return
				}
				entered[i]++       // the lock guards it
				<-time.After(hold) // what it does while it has the lock
				if err := lease.Unlock(ctxFor(t)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	return entered
}
