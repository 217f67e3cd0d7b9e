package daemon_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/txn/memstore"
)

// TestClocksThatDisagree: two replicas on a store whose clock is decades away from
// theirs, and jumps while both have work. In a bubble the replicas live in 2000.
func TestClocksThatDisagree(t *testing.T) {
	for name, jump := range map[string]time.Duration{
		"stays":            0,
		"an hour ahead":    time.Hour,
		"an hour back":     -time.Hour,
		"a second ahead":   time.Second,
		"a lease ahead":    5 * time.Second,
		"a second back":    -time.Second,
		"decades in a day": 20 * 365 * 24 * time.Hour,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var off atomic.Int64
				off.Store(int64(26 * 365 * 24 * time.Hour))
				store := newIll(memstore.New(&memstore.Options{Now: func() time.Time {
					return time.Now().Add(time.Duration(off.Load()))
				}}))
				here, there := newWork(t, openVirtual(t, store)), newWork(t, openVirtual(t, store))
				here.submit("here", 12)
				there.submit("there", 12)
				wait(700 * time.Millisecond) // in the middle of their first calls
				off.Add(int64(jump))
				here.submit("here-later", 6)
				wait(time.Second)
				off.Add(-int64(jump))
				there.submit("there-later", 6)
				here.going.Wait()
				there.going.Wait()
				if took := time.Since(here.began); took > 30*time.Second {
					t.Errorf("took %v", took)
				}
				store.mu.Lock()
				defer store.mu.Unlock()
				for _, b := range store.breach {
					t.Error(b)
				}
			})
		})
	}
}
