package lock_test

import (
	"testing"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

func benchClient(b *testing.B) *lock.Client {
	b.Helper()
	locks, err := memlock.New(nil, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = locks.Stop(b.Context()) })
	b.ReportAllocs()
	return locks
}

func lockAndUnlock(b *testing.B, locks *lock.Client) {
	b.Helper()
	lease, err := locks.Mutex("a", nil).Lock(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	_ = lease.Unlock(b.Context())
}

func BenchmarkUncontended(b *testing.B) {
	locks := benchClient(b)
	for b.Loop() {
		lockAndUnlock(b, locks)
	}
}

func BenchmarkContended64(b *testing.B) {
	locks := benchClient(b)
	b.SetParallelism(32)
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			lockAndUnlock(b, locks)
		}
	})
}
