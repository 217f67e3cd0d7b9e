package lock_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

func TestALeaseHeldForHoursIsRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		locks, err := memlock.New(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		lease, err := locks.Mutex("a", nil).Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Hour)
		if lease.State() != lock.Held {
			t.Fatal(lease.State())
		}
		if err := lease.Unlock(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !errors.Is(context.Cause(lease.Context()), lock.ErrReleased) {
			t.Fatal(context.Cause(lease.Context()))
		}
		if err := locks.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestExclusionAmongGoroutinesOfTwoClients(t *testing.T) {
	store := memlock.NewStore()
	var group sync.WaitGroup
	n, last := 0, uint64(0)
	for range 2 {
		locks, err := memlock.New(store, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer locks.Close(t.Context())
		for range 16 {
			group.Go(func() {
				for range 200 {
					lease, err := locks.Mutex("a", nil).Lock(t.Context())
					if err != nil {
						t.Error(err)
						return
					}
					n++
					if lease.Token() <= last {
						t.Errorf("token %d after %d", lease.Token(), last)
					}
					last = lease.Token()
					if err := lease.Unlock(t.Context()); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	group.Wait()
	if n != 2*16*200 {
		t.Fatal(n)
	}
}

func BenchmarkUncontended(b *testing.B) {
	locks, _ := memlock.New(nil, nil)
	defer locks.Close(b.Context())
	b.ReportAllocs()
	for b.Loop() {
		lease, err := locks.Mutex("a", nil).Lock(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		_ = lease.Unlock(b.Context())
	}
}

func BenchmarkContended64(b *testing.B) {
	locks, _ := memlock.New(nil, nil)
	defer locks.Close(b.Context())
	b.ReportAllocs()
	b.SetParallelism(32)
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			lease, err := locks.Mutex("a", nil).Lock(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			_ = lease.Unlock(b.Context())
		}
	})
}
