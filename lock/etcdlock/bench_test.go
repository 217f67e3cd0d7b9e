package etcdlock_test

import (
	"context"
	"strconv"
	"sync"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/etcdlock"
)

// cycle takes a lock and gives it back.
type cycle func(ctx context.Context) error

// ours makes cycles of a lock by a client of its own.
func ours(b *testing.B, addr string) cycle {
	b.Helper()
	locks, err := etcdlock.New(connect(b, addr), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = locks.Stop(context.Background()) })
	m := locks.Mutex("job", nil)
	return func(ctx context.Context) error {
		lease, err := m.Lock(ctx)
		if err != nil {
			return err
		}
		return lease.Unlock(ctx)
	}
}

// theirs makes cycles of the official mutex, by a session of its own: two of one session exclude nobody.
func theirs(b *testing.B, client *clientv3.Client) cycle {
	b.Helper()
	s, err := concurrency.NewSession(client)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	m := concurrency.NewMutex(s, "job")
	return func(ctx context.Context) error {
		if err := m.Lock(ctx); err != nil {
			return err
		}
		return m.Unlock(ctx)
	}
}

// runAll runs b.N cycles altogether, side by side.
func runAll(b *testing.B, all []cycle) {
	b.Helper()
	var group sync.WaitGroup
	b.ResetTimer()
	for i, c := range all {
		group.Go(func() {
			for range (b.N + i) / len(all) {
				if err := c(b.Context()); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
}

// BenchmarkContended has so many goroutines want one lock, of one process, and of four.
func BenchmarkContended(b *testing.B) {
	for _, processes := range []int{1, 4} {
		b.Run("ours/"+strconv.Itoa(processes), func(b *testing.B) {
			addr := testenv.StartEtcd(b, nil).Members[0].Addr()
			var all []cycle
			for range processes {
				c := ours(b, addr)
				for range 64 / processes {
					all = append(all, c)
				}
			}
			runAll(b, all)
		})
		b.Run("theirs/"+strconv.Itoa(processes), func(b *testing.B) {
			addr := testenv.StartEtcd(b, nil).Members[0].Addr()
			var all []cycle
			for range processes {
				client := connect(b, addr)
				for range 64 / processes {
					all = append(all, theirs(b, client))
				}
			}
			runAll(b, all)
		})
	}
}

// BenchmarkHandOver has two processes of one goroutine each want one lock.
func BenchmarkHandOver(b *testing.B) {
	b.Run("ours", func(b *testing.B) {
		addr := testenv.StartEtcd(b, nil).Members[0].Addr()
		runAll(b, []cycle{ours(b, addr), ours(b, addr)})
	})
	b.Run("theirs", func(b *testing.B) {
		addr := testenv.StartEtcd(b, nil).Members[0].Addr()
		runAll(b, []cycle{theirs(b, connect(b, addr)), theirs(b, connect(b, addr))})
	})
}

// BenchmarkUncontended has one take a lock that is free, beside the two writes that this needs.
func BenchmarkUncontended(b *testing.B) {
	b.Run("ours", func(b *testing.B) {
		runAll(b, []cycle{ours(b, testenv.StartEtcd(b, nil).Members[0].Addr())})
	})
	b.Run("theirs", func(b *testing.B) {
		client := connect(b, testenv.StartEtcd(b, nil).Members[0].Addr())
		runAll(b, []cycle{theirs(b, client)})
	})
	b.Run("raw", func(b *testing.B) {
		client := connect(b, testenv.StartEtcd(b, nil).Members[0].Addr())
		runAll(b, []cycle{func(ctx context.Context) error {
			if _, err := client.Put(ctx, "job", ""); err != nil {
				return err
			}
			_, err := client.Delete(ctx, "job")
			return err
		}})
	})
}
