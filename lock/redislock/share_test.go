package redislock_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/chaos"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/redisconn"
)

// TestNearbyProcessStarvesTheOthers: who is further from the server hears later that a
// lock is free, and asks later.
func TestNearbyProcessStarvesTheOthers(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds of real time; package lock has it in virtual time")
	}
	const ms = time.Millisecond
	for _, c := range []struct{ way, hold, lasts time.Duration }{
		{ms, 30 * ms, 3 * time.Second}, {20 * ms, 30 * ms, 3 * time.Second}, {20 * ms, 0, 10 * time.Second},
	} {
		t.Run(fmt.Sprintf("%s away, held %s", c.way, c.hold), func(t *testing.T) {
			throughProxy(t, time.Minute, func(t *testing.T, p *chaos.Proxy, far, near *lock.Client) {
				p.Delay(c.way)
				defer p.Heal()
				entered := compete(t, c.lasts, c.hold, near, far)
				if all := entered[0] + entered[1]; entered[1] < min(all/20, possible(c.lasts, c.way, c.hold)/2) {
					t.Errorf("entered %d and %d times", entered[0], entered[1])
				}
			})
		})
	}
}

// possible is how often one alone that is so far away could have a lock: it asks, and gives it back.
func possible(lasts, way, hold time.Duration) int { return int(lasts / (4*way + hold)) }

// TestTwoNearbyProcessesStarveTheThird: their goes are over before anybody is refused.
func TestTwoNearbyProcessesStarveTheThird(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds of real time; package lock has it in virtual time")
	}
	for _, hold := range []time.Duration{0, time.Millisecond} {
		t.Run(fmt.Sprintf("held %s", hold), func(t *testing.T) {
			each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
				server := testenv.Redis(t, nil)
				proxy := proxyTo(t, server)
				var locks []*lock.Client
				for _, addr := range []string{server.Addr(), server.Addr(), proxy.Addr()} {
					locks = append(locks, warmClient(t, connect(t, target{addrs: []string{addr}}), time.Minute))
				}
				proxy.Delay(5 * time.Millisecond)
				defer proxy.Heal()
				entered := compete(t, 8*time.Second, hold, locks...)
				all := entered[0] + entered[1] + entered[2]
				if entered[2] < min(all/30, possible(8*time.Second, 5*time.Millisecond, hold)/2) {
					t.Errorf("entered %d times", entered)
				}
			})
		})
	}
}

// compete has every client take one lock time and again, and returns how often each
// of them had it since they all know of one another: a subscription takes some round
// trips to begin.
func compete(t *testing.T, lasts, hold time.Duration, clients ...*lock.Client) []int {
	t.Helper()
	entered, before := make([]int, len(clients)), make([]int, len(clients))
	var group sync.WaitGroup
	for i, locks := range clients {
		group.Go(func() {
			for start := time.Now(); time.Since(start) < lasts; {
				lease, err := locks.Mutex("contended", nil).Lock(ctxFor(t))
				if err != nil {
					t.Error(err)
					return
				}
				if entered[i]++; slices.Min(entered) == 3 && entered[i] == 3 { // the lock guards them
					copy(before, entered)
				}
				<-time.After(hold) // what it does while it has the lock
				if err := lease.Unlock(ctxFor(t)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	for i := range entered {
		entered[i] -= before[i]
	}
	return entered
}
