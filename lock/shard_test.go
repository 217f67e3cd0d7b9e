package lock_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// sharded keeps the names that begin with "bad" on a server of their own.
type sharded struct{ *faulty }

// Shard implements [driver.Sharder].
func (s sharded) Shard(name string) int {
	if strings.HasPrefix(name, "bad") {
		return 1
	}
	return 0
}

func TestAShardThatHangsDelaysNoOther(t *testing.T) {
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		locks := open(t, sharded{backend}, &lock.Options{TTL: 3 * time.Second})
		backend.set(hooks{renew: func(ctx context.Context, grants []driver.Grant) []error {
			if strings.HasPrefix(grants[0].Name, "bad") {
				<-ctx.Done()
				return allFail(grants, ctx.Err())
			}
			return backend.Backend.Renew(ctx, grants)
		}})
		var good, bad []*lock.Lease
		for i := range 100 {
			good = append(good, mustLock(t, locks.Mutex(fmt.Sprint("good", i), nil)))
			bad = append(bad, mustLock(t, locks.Mutex(fmt.Sprint("bad", i), nil)))
		}
		time.Sleep(time.Minute)
		for i := range good {
			wantEqual(t, good[i].Name(), good[i].State(), lock.Held)
			wantEqual(t, bad[i].Name(), bad[i].State(), lock.Lost)
		}
	})
}

func TestOneBatchDoesNotMixShards(t *testing.T) {
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		locks := open(t, sharded{backend}, nil)
		backend.set(hooks{renew: func(ctx context.Context, grants []driver.Grant) []error {
			for _, g := range grants {
				wantEqual(t, "shard", sharded{}.Shard(g.Name), sharded{}.Shard(grants[0].Name))
			}
			return backend.Backend.Renew(ctx, grants)
		}})
		for i := range 100 {
			mustLock(t, locks.Mutex(fmt.Sprint("good", i), nil))
			mustLock(t, locks.Mutex(fmt.Sprint("bad", i), nil))
		}
		time.Sleep(time.Hour)
	})
}

// While a slow call holds up the lane, leases fall due; those that end first are
// renewed first.
func TestTheLeaseClosestToItsEndIsRenewedFirst(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var (
			mu    sync.Mutex
			order []time.Duration
		)
		backend := newFaulty(nil)
		locks := open(t, backend, nil)
		backend.set(hooks{renew: func(ctx context.Context, grants []driver.Grant) []error {
			mu.Lock()
			for _, g := range grants {
				order = append(order, g.TTL)
			}
			mu.Unlock()
			errs := backend.Backend.Renew(ctx, grants)
			time.Sleep(4 * time.Second)
			return errs
		}})
		mustLock(t, locks.Mutex("slow", &lock.MutexOptions{TTL: 14 * time.Second}))
		for _, s := range []int{20, 16, 19, 17, 18} {
			ttl := time.Duration(s) * time.Second
			mustLock(t, locks.Mutex(ttl.String(), &lock.MutexOptions{TTL: ttl}))
		}
		time.Sleep(11100 * time.Millisecond) // the second batch has been sent
		mu.Lock()
		defer mu.Unlock()
		if len(order) != 6 || !slices.IsSorted(order) {
			t.Errorf("renewed in the order %v", order)
		}
	})
}
