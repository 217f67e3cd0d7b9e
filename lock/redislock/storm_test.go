package redislock_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn"
)

// TestCancelledLocksUnderLoadLeaveNoLock breaks 200 Locks off at any moment, while the
// server is busy: none of them may stay behind for the rest of its lease.
func TestCancelledLocksUnderLoadLeaveNoLock(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, nil)
		open := func() *lock.Client { // leases live for 30 s
			c, err := redislock.New(connect(t, single(server)), nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Stop(context.Background()) })
			return c
		}
		a, b, busy := open(), open(), open()
		load, stop := context.WithCancel(t.Context())
		var working sync.WaitGroup
		for i := range 32 {
			working.Go(func() {
				for load.Err() == nil {
					if l, err := busy.Mutex(fmt.Sprint("load-", i), nil).Lock(load); err == nil {
						_ = l.Unlock(context.Background())
					}
				}
			})
		}
		var storm sync.WaitGroup
		for i := range 200 {
			storm.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rand.Int64N(int64(20*time.Millisecond))))
				defer cancel()
				if l, err := a.Mutex(fmt.Sprint("n-", i%50), nil).Lock(ctx); err == nil {
					_ = l.Unlock(context.Background())
				}
			})
		}
		storm.Wait()
		for i := range 50 {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			l, err := b.Mutex(fmt.Sprint("n-", i), nil).Lock(ctx)
			cancel()
			if err != nil {
				t.Errorf("%d: %v", i, err)
				continue
			}
			_ = l.Unlock(t.Context())
		}
		stop()
		working.Wait()
	})
}
