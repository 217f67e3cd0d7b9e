package lock_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// countTurns has processes, each so far away from the store, take and give back their locks, and counts how often.
func countTurns(
	t *testing.T, ways []time.Duration, goroutines int, hold time.Duration,
	lockOf func(int, *lock.Client) lock.Lockable,
) []int {
	t.Helper()
	store := memlock.NewStore(nil)
	counts := make([]atomic.Int64, len(ways))
	var group sync.WaitGroup
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
	defer cancel()
	for i, way := range ways {
		l := lockOf(i, open(t, newDistant(store, nextDoor+way), nil))
		for range goroutines {
			group.Go(func() {
				for {
					lease, err := l.Lock(ctx)
					if err != nil {
						return
					}
					counts[i].Add(1)
					time.Sleep(hold)
					mustUnlock(t, lease)
				}
			})
		}
	}
	group.Wait()
	var had []int
	for i := range counts {
		had = append(had, int(counts[i].Load()))
	}
	return had
}

// TestAWriterFarAwayIsStarved by those of a process next door to the store.
func TestAWriterFarAwayIsStarved(t *testing.T) {
	for _, way := range []time.Duration{5 * time.Millisecond, 20 * time.Millisecond} {
		for _, goroutines := range []int{1, 8} {
			t.Run(fmt.Sprintf("%s, %d each", way, goroutines), func(t *testing.T) {
				virtual(t, func(t *testing.T) {
					writer := func(_ int, c *lock.Client) lock.Lockable { return c.RWMutex("a", nil).Writer() }
					wantShares(t, countTurns(t, []time.Duration{0, way}, goroutines, 5*time.Millisecond, writer))
				})
			})
		}
	}
}

// TestAReaderIsStarvedByWriters that take turns: after each it is the turn of readers who wait.
func TestAReaderIsStarvedByWriters(t *testing.T) {
	for _, way := range []time.Duration{0, 5 * time.Millisecond, 20 * time.Millisecond} {
		t.Run(way.String(), func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				ways := []time.Duration{0, 0, way}
				had := countTurns(t, ways, 1, 30*time.Millisecond, func(i int, c *lock.Client) lock.Lockable {
					if i == 2 {
						return c.RWMutex("a", nil).Reader()
					}
					return c.RWMutex("a", nil).Writer()
				})
				if had[2] < 50 {
					t.Errorf("two writers and a reader have had the lock so often: %d", had)
				}
			})
		})
	}
}

// TestAWriterIsStarvedByUpgrades of processes that read, upgrade, and begin anew.
func TestAWriterIsStarvedByUpgrades(t *testing.T) {
	for _, processes := range []int{1, 2, 3} {
		for _, way := range []time.Duration{0, 5 * time.Millisecond} {
			t.Run(fmt.Sprintf("%d, %s", processes, way), func(t *testing.T) {
				virtual(t, func(t *testing.T) {
					store := memlock.NewStore(nil)
					ctx, end := context.WithCancel(t.Context())
					var group sync.WaitGroup
					for range processes {
						rw := open(t, newDistant(store, nextDoor), nil).RWMutex("a", nil)
						group.Go(func() { upgradeTimeAndAgain(ctx, t, rw) })
						group.Go(func() { upgradeTimeAndAgain(ctx, t, rw) })
					}
					time.Sleep(time.Second)
					rw := open(t, newDistant(store, nextDoor+way), nil).RWMutex("a", nil)
					for range 10 {
						start := time.Now()
						mustUnlock(t, mustLock(t, rw.Writer()))
						wantBetween(t, "the writer's wait", time.Since(start), 0, 500*time.Millisecond)
					}
					end()
					group.Wait()
				})
			})
		}
	}
}

func upgradeTimeAndAgain(ctx context.Context, t *testing.T, rw *lock.RWMutex) {
	t.Helper()
	for {
		u, err := rw.RLockUpgradeable(ctx)
		if err != nil {
			return
		}
		if w, err := u.Upgrade(ctx); err == nil {
			time.Sleep(5 * time.Millisecond)
			mustUnlock(t, w)
		}
		mustUnlock(t, u)
	}
}

// TestAWriterSpinsThroughATurn of readers, of whom one has died meanwhile: it waits for the end of it.
func TestAWriterSpinsThroughATurn(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		b := newAsking(store)
		w := mustLock(t, open(t, memlock.NewBackend(store), nil).RWMutex("a", nil).Writer())
		_, err := memlock.NewBackend(store).Acquire(t.Context(), driver.Request{
			Name: "a", Owner: "dead", Mode: driver.Shared, TTL: time.Second, Tokens: 1, Waits: true,
		})
		wantErr(t, err, lock.ErrHeld)
		next := lockLater(t, t.Context(), open(t, b, nil).RWMutex("a", nil).Writer())
		before := b.asked.Load()
		mustUnlock(t, w)
		mustUnlock(t, granted(t, next))
		if n := b.asked.Load() - before; n > 3 {
			t.Errorf("it has asked %d times", n)
		}
	})
}

// asking counts requests.
type asking struct {
	driver.Backend
	driver.Waiter
	driver.Timekeeper

	asked atomic.Int64
}

func (a *asking) Acquire(ctx context.Context, req driver.Request) (driver.Grant, error) {
	a.asked.Add(1)
	return a.Backend.Acquire(ctx, req)
}

func newAsking(store *memlock.Store) *asking {
	b := memlock.NewBackend(store)
	return &asking{Backend: b, Waiter: b.(driver.Waiter), Timekeeper: b.(driver.Timekeeper)}
}

// TestASecondWriterPolls: somebody else keeps the readers off, and it is woken when the lock is free.
func TestASecondWriterPolls(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		r := mustLock(t, open(t, memlock.NewBackend(store), nil).RWMutex("a", nil).Reader())
		ctx, cancel := context.WithCancel(t.Context())
		var waiting []<-chan outcome
		backends := []*asking{newAsking(store), newAsking(store), newAsking(store)}
		for _, b := range backends {
			waiting = append(waiting, lockLater(t, ctx, open(t, b, nil).RWMutex("a", nil).Writer()))
		}
		time.Sleep(time.Minute)
		for i, b := range backends {
			if n := b.asked.Load(); n > 60 {
				t.Errorf("writer %d has asked %d times in a minute", i+1, n)
			}
		}
		cancel()
		for _, w := range waiting {
			wantErr(t, (<-w).err, context.Canceled)
		}
		mustUnlock(t, r)
	})
}

// TestAWriterSleepsPastADeadReader: it was told of the one who reads for longest, and that one is not the last.
func TestAWriterSleepsPastADeadReader(t *testing.T) {
	for _, first := range []bool{false, true} {
		t.Run(fmt.Sprintf("readers first: %t", first), func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				store := memlock.NewStore(nil)
				a, b := open(t, memlock.NewBackend(store), nil), open(t, memlock.NewBackend(store), nil)
				living := mustLock(t, a.RWMutex("a", &lock.RWMutexOptions{TTL: time.Minute}).Reader())
				dead := driver.Request{
					Name: "a", Owner: "dead", Mode: driver.Shared, TTL: 3 * time.Second, Tokens: 1,
				}
				_, err := memlock.NewBackend(store).Acquire(t.Context(), dead) // and is never heard of again
				wantErr(t, err, nil)
				start := time.Now()
				writer := lockLater(t, t.Context(), b.RWMutex("a", &lock.RWMutexOptions{ReadersFirst: first}).Writer())
				time.Sleep(time.Second)
				mustUnlock(t, living)
				mustUnlock(t, granted(t, writer))
				wantBetween(t, "the wait", time.Since(start), 3*time.Second, 5100*time.Millisecond)
			})
		})
	}
}

func TestAWriterOfAStoppedClientKeepsReadersOff(t *testing.T) {
	virtual(t, func(t *testing.T) {
		a, b := twoProcesses(t, nil)
		r := mustLock(t, a.RWMutex("a", nil).Reader())
		writer := lockLater(t, t.Context(), b.RWMutex("a", nil).Writer())
		time.Sleep(time.Second)
		wantErr(t, b.Stop(t.Context()), nil)
		wantErr(t, (<-writer).err, lock.ErrClosed)
		mustUnlock(t, mustTryLock(t, a.RWMutex("a", nil).Reader()))
		mustUnlock(t, r)
	})
}
