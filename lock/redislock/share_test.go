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
				wantPart(t, 20, compete(t, c.lasts, c.hold, near, far))
			})
		})
	}
}

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
				wantPart(t, 30, compete(t, 8*time.Second, hold, locks...))
			})
		})
	}
}

// rival is a client that competes for a lock.
type rival struct {
	entered  int
	possible int // how often it could have had the lock if it were alone
}

// wantPart checks that the last one had the lock for one time in so many, or half as often as its way to the server
// allowed.
func wantPart(t *testing.T, part int, rivals []rival) {
	t.Helper()
	all, last := 0, rivals[len(rivals)-1]
	for _, r := range rivals {
		all += r.entered
	}
	if last.entered < min(all/part, last.possible/2) {
		t.Errorf("entered: %+v", rivals)
	}
}

// compete has every client take one lock time and again, and returns how often each of them had it since they all
// know of one another: a subscription takes some round trips to begin. What is possible is told by the time that an
// Unlock takes, which waits for nobody: asking takes as long.
func compete(t *testing.T, lasts, hold time.Duration, clients ...*lock.Client) []rival {
	t.Helper()
	entered, before := make([]int, len(clients)), make([]int, len(clients))
	rivals := make([]rival, len(clients))
	var group sync.WaitGroup
	for i, locks := range clients {
		group.Go(func() {
			var busy time.Duration
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
				back := time.Now()
				if err := lease.Unlock(ctxFor(t)); err != nil {
					t.Error(err)
				}
				busy += hold + 2*time.Since(back)
			}
			rivals[i].possible = int(lasts * time.Duration(entered[i]) / max(busy, 1))
		})
	}
	group.Wait()
	for i := range rivals {
		rivals[i].entered = entered[i] - before[i]
	}
	return rivals
}
