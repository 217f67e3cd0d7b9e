package lock_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// TestAWriterFarAwayIsStarvedByTurnsThatAreRead: the process next door passes the lock on from its writer to its
// reader, who reads for as long as the turn, or longer.
func TestAWriterFarAwayIsStarvedByTurnsThatAreRead(t *testing.T) {
	for _, way := range []time.Duration{0, time.Millisecond, 5 * time.Millisecond, 20 * time.Millisecond} {
		for _, reads := range []time.Duration{time.Millisecond, 5 * time.Millisecond, 15 * time.Millisecond} {
			t.Run(fmt.Sprintf("%s, read for %s", way, reads), func(t *testing.T) {
				virtual(t, func(t *testing.T) {
					store := memlock.NewStore(nil)
					near := open(t, newDistant(store, nextDoor), nil).RWMutex("a", nil)
					far := open(t, newDistant(store, nextDoor+way), nil).RWMutex("a", nil)
					had := takeTurns(t, 30*time.Second, []turns{
						{near.Lock, 2 * time.Millisecond}, {far.Lock, 2 * time.Millisecond}, {near.RLock, reads},
					})
					wantShares(t, had[:2])
				})
			})
		}
	}
}

// TestAnUpgradeableReaderFarAwayIsStarved by that of the process next door: one at a time reads so.
func TestAnUpgradeableReaderFarAwayIsStarved(t *testing.T) {
	for _, way := range []time.Duration{time.Millisecond, 5 * time.Millisecond, 20 * time.Millisecond} {
		t.Run(way.String(), func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				store := memlock.NewStore(nil)
				var all []turns
				for _, way := range []time.Duration{0, way} {
					rw := open(t, newDistant(store, nextDoor+way), nil).RWMutex("a", nil)
					all = append(all, turns{rw.RLockUpgradeable, 30 * time.Millisecond})
				}
				wantShares(t, takeTurns(t, 30*time.Second, all))
			})
		})
	}
}

// turns are those of a goroutine that has a lock, for so long each time.
type turns struct {
	take func(context.Context) (*lock.Lease, error)
	time time.Duration
}

// takeTurns returns how many turns each has had in that time.
func takeTurns(t *testing.T, d time.Duration, all []turns) []int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	counts := make([]atomic.Int64, len(all))
	var group sync.WaitGroup
	for i, of := range all {
		group.Go(func() {
			for {
				lease, err := of.take(ctx)
				if errors.Is(err, context.DeadlineExceeded) {
					return
				}
				wantErr(t, err, nil)
				counts[i].Add(1)
				time.Sleep(of.time)
				mustUnlock(t, lease)
			}
		})
	}
	group.Wait()
	had := make([]int, len(all))
	for i := range counts {
		had[i] = int(counts[i].Load())
	}
	return had
}

// TestWhoHasAskedComesAfterThoseBesideTheHolder who wait in its process, and are next door to the store.
func TestWhoHasAskedComesAfterThoseBesideTheHolder(t *testing.T) {
	kinds := map[string]func(*lock.Client) (holds, waits lock.Lockable){
		"mutex":       func(c *lock.Client) (_, _ lock.Lockable) { return c.Mutex("a", nil), c.Mutex("a", nil) },
		"fixed mutex": func(c *lock.Client) (_, _ lock.Lockable) { return fixedMutex(c), fixedMutex(c) },
		"writer": func(c *lock.Client) (_, _ lock.Lockable) {
			return c.RWMutex("a", nil).Writer(), c.RWMutex("a", nil).Writer()
		},
		"reader": func(c *lock.Client) (_, _ lock.Lockable) {
			return c.RWMutex("a", nil).Reader(), c.RWMutex("a", nil).Writer()
		},
	}
	for kind, of := range kinds {
		for _, way := range []time.Duration{time.Millisecond, 5 * time.Millisecond} {
			t.Run(kind+", "+way.String(), func(t *testing.T) {
				virtual(t, func(t *testing.T) {
					store := memlock.NewStore(nil)
					near, far := open(t, memlock.NewBackend(store), nil), open(t, newDistant(store, way), nil)
					holds, waits := of(near)
					_, waitsFar := of(far)
					held := mustLock(t, holds)
					there := lockLater(t, t.Context(), waitsFar)
					time.Sleep(time.Second)
					here := lockLater(t, t.Context(), waits)
					time.Sleep(10 * time.Millisecond)
					_, err := near.Ask(t.Context(), "a", "please", 0)
					wantErr(t, err, nil)
					<-held.Asked()
					mustUnlock(t, held)
					select {
					case <-here:
						t.Error("who has waited in the holder's process comes first")
						return
					case got := <-there:
						wantErr(t, got.err, nil)
						mustUnlock(t, got.lease)
					}
					mustUnlock(t, granted(t, here))
				})
			})
		}
	}
}

func fixedMutex(c *lock.Client) *lock.Mutex {
	return c.Mutex("a", &lock.MutexOptions{Fixed: true, TTL: time.Minute})
}
