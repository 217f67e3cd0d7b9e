package lock_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// serve lets n waiters queue behind a holder, and returns the leases in the
// order in which they were served, each held for that long.
func serve(t *testing.T, n int, hold time.Duration, mutex func(i int) *lock.Mutex) []*lock.Lease {
	t.Helper()
	var (
		served []*lock.Lease
		group  sync.WaitGroup
	)
	for i := range n {
		group.Go(func() {
			lease := mustLock(t, mutex(i))
			served = append(served, lease) // the lock guards it
			time.Sleep(hold)
			mustUnlock(t, lease)
		})
		synctest.Wait()
	}
	group.Wait()
	return served
}

// grants returns how many grants of the backend the leases came from, and the
// most that came from one.
func grants(leases []*lock.Lease) (n, longest int) {
	run, owner := 0, ""
	for _, l := range leases {
		if l.Owner() != owner {
			n, run, owner = n+1, 0, l.Owner()
		}
		run++
		longest = max(longest, run)
	}
	return n, longest
}

func wantRisingTokens(t *testing.T, leases []*lock.Lease) {
	t.Helper()
	for i := 1; i < len(leases); i++ {
		if leases[i].Token() <= leases[i-1].Token() {
			t.Fatalf("token %d after %d", leases[i].Token(), leases[i-1].Token())
		}
	}
}

func TestHandOffStaysWithinItsBudget(t *testing.T) {
	tests := []struct {
		name    string
		budget  lock.HandOff
		hold    time.Duration
		longest int // leases from one grant
	}{
		{"off", lock.HandOff{Count: -1}, 0, 1},
		{"count 1", lock.HandOff{Count: 1}, 0, 1},
		{"count 3", lock.HandOff{Count: 3}, 0, 3},
		{"count 3, time left", lock.HandOff{Count: 3, Time: time.Hour}, time.Millisecond, 3},
		{"time", lock.HandOff{Time: 10 * time.Millisecond}, 3 * time.Millisecond, 4},
		{"default time", lock.HandOff{}, 3 * time.Millisecond, 4},
		{"held longer than the time", lock.HandOff{}, time.Second, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				locks := openMem(t, &lock.Options{HandOff: test.budget})
				held := mustLock(t, locks.Mutex("a", nil))
				time.AfterFunc(time.Second, func() { mustUnlock(t, held) })
				served := serve(t, 40, test.hold, func(int) *lock.Mutex { return locks.Mutex("a", nil) })
				_, longest := grants(served)
				wantEqual(t, "leases of one grant", longest, test.longest)
				wantRisingTokens(t, served)
			})
		})
	}
}

func TestHandOffAsksTheBackendOnceForMany(t *testing.T) {
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		locks := open(t, backend, nil)
		held := mustLock(t, locks.Mutex("a", nil))
		time.AfterFunc(time.Second, func() { mustUnlock(t, held) })
		serve(t, 100, 0, func(int) *lock.Mutex { return locks.Mutex("a", nil) })
		wantEqual(t, "acquires", backend.acquires.Load(), 2) // the holder's, and one for the queue
	})
}

// What a waiter asks for, and the present grant is not, it does not get by
// hand-off.
func TestOnlyWhatWasAskedForIsHandedOff(t *testing.T) {
	tests := map[string]*lock.MutexOptions{
		"TTL":     {TTL: time.Hour},
		"fixed":   {Fixed: true},
		"minimum": {MinHold: time.Millisecond},
		"meta":    {Meta: map[string]string{"job": "other"}},
	}
	for name, different := range tests {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				locks := openMem(t, nil)
				held := mustLock(t, locks.Mutex("a", nil))
				time.AfterFunc(time.Second, func() { mustUnlock(t, held) })
				served := serve(t, 6, 0, func(i int) *lock.Mutex {
					return locks.Mutex("a", []*lock.MutexOptions{nil, different}[i/2%2])
				})
				// Two and two and two queue up: 0 0 1 1 0 0.
				if served[1].Owner() == served[2].Owner() || served[3].Owner() == served[4].Owner() {
					t.Error("handed to another kind")
				}
				if served[0].Owner() != served[1].Owner() {
					t.Error("not handed to the same kind")
				}
			})
		})
	}
}

func TestAnOverdueLeaseIsNotHandedOff(t *testing.T) {
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		locks := open(t, backend, &lock.Options{HandOff: lock.HandOff{Time: time.Hour}})
		blocker := mustLock(t, locks.Mutex("a", nil))
		first := lockLater(t, t.Context(), locks.Mutex("a", nil))
		second := lockLater(t, t.Context(), locks.Mutex("a", nil))
		mustUnlock(t, blocker)
		held := granted(t, first) // of a grant that has tokens left
		backend.set(hooks{renew: failRenewals(errDown)})
		time.Sleep(20 * time.Second)
		wantEqual(t, "state", held.State(), lock.Unconfirmed)
		backend.heal()
		mustUnlock(t, held)
		next := granted(t, second)
		if next.Owner() == held.Owner() {
			t.Error("an unconfirmed lease was passed on")
		}
		mustUnlock(t, next)
	})
}

// Both are woken by the release. If the local one did not hold back, it would
// most often be first, being closer.
func TestARemoteWaiterGoesBeforeTheNextLocalOne(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		locks := open(t, memlock.NewBackend(store), &lock.Options{HandOff: lock.HandOff{Count: -1}})
		other := open(t, memlock.NewBackend(store), nil)
		for range 100 {
			held := mustLock(t, locks.Mutex("a", nil))
			local := lockLater(t, t.Context(), locks.Mutex("a", nil))
			remote := lockLater(t, t.Context(), other.Mutex("a", &lock.MutexOptions{Wait: time.Minute}))
			mustUnlock(t, held)
			first := granted(t, remote)
			select {
			case <-local:
				t.Fatal("the local waiter went first")
			default:
			}
			mustUnlock(t, first)
			mustUnlock(t, granted(t, local))
		}
	})
}

func TestOtherProcessesGetTheirTurn(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		clients := []*lock.Client{
			open(t, memlock.NewBackend(store), nil), open(t, memlock.NewBackend(store), nil),
		}
		var (
			counts [2]int
			last   uint64
			group  sync.WaitGroup
			end    = time.Now().Add(10 * time.Second)
		)
		for i, c := range clients {
			for range 8 {
				group.Go(func() {
					for time.Now().Before(end) {
						lease := mustLock(t, c.Mutex("a", nil))
						if lease.Token() <= last {
							t.Errorf("token %d after %d", lease.Token(), last)
						}
						counts[i], last = counts[i]+1, lease.Token()
						time.Sleep(time.Millisecond)
						mustUnlock(t, lease)
					}
				})
			}
		}
		group.Wait()
		if least := min(counts[0], counts[1]); least*3 < counts[0]+counts[1] {
			t.Errorf("one of the processes was starved: %v", counts)
		}
		if counts[0]+counts[1] < 5000 {
			t.Errorf("only %d turns in 10 s of 1 ms each", counts[0]+counts[1])
		}
	})
}

func TestExclusionAmongGoroutinesOfTwoClients(t *testing.T) {
	store := memlock.NewStore(nil)
	var (
		group sync.WaitGroup
		n     int // the lock guards both, and the race detector sees if it does not
		last  uint64
	)
	for range 2 {
		locks := open(t, memlock.NewBackend(store), nil)
		for range 16 {
			group.Go(func() {
				for range 200 {
					lease := mustLock(t, locks.Mutex("a", nil))
					if lease.Token() <= last {
						t.Errorf("token %d after %d", lease.Token(), last)
					}
					n, last = n+1, lease.Token()
					mustUnlock(t, lease)
				}
			})
		}
	}
	group.Wait()
	wantEqual(t, "turns", n, 2*16*200)
}
