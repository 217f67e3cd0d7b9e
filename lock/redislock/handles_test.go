package redislock_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/redisconn"
)

// TestTwoHandlesOfOneClientMeet: two goroutines, each with a handle of its own on one name, take the lock ten thousand
// times. The server sees one process, which must not be taken for one holder.
func TestTwoHandlesOfOneClientMeet(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		locks := warmClient(t, connect(t, single(testenv.Redis(t, nil))), 30*time.Second)
		var (
			group  sync.WaitGroup
			inside atomic.Int32
			n      int // the lock guards it, and the race detector sees if it does not
		)
		for range 2 {
			m := locks.Mutex("a", nil)
			group.Go(func() {
				for range 5_000 {
					lease, err := m.Lock(t.Context())
					if err != nil {
						t.Error(err)
						return
					}
					if inside.Add(1) != 1 {
						t.Error("both have the lock")
					}
					n++
					inside.Add(-1)
					if err := lease.Unlock(t.Context()); err != nil {
						t.Error(err)
					}
				}
			})
		}
		group.Wait()
		if n != 10_000 {
			t.Errorf("%d turns, want 10000", n)
		}
	})
}
