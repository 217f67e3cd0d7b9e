package sqlite_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/sqllock/sqlite"
)

// each benchmarks with a disk that is waited for, and without.
func each(b *testing.B, run func(b *testing.B, c *lock.Client)) {
	for name, opts := range map[string]*sqlite.Options{"full": nil, "relaxed": {Relaxed: true}} {
		b.Run(name, func(b *testing.B) {
			c, err := sqlite.Open(filepath.Join(b.TempDir(), "locks.db"), opts)
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() {
				ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
				defer cancel()
				if err := c.Stop(ctx); err != nil {
					b.Error(err)
				}
			})
			run(b, c)
		})
	}
}

func BenchmarkPair(b *testing.B) {
	each(b, func(b *testing.B, c *lock.Client) {
		m := c.Mutex("a", nil)
		for b.Loop() {
			l, err := m.Lock(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			if err := l.Unlock(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkNames has 64 goroutines each use a name of their own: they share transactions.
func BenchmarkNames(b *testing.B) {
	each(b, func(b *testing.B, c *lock.Client) {
		b.SetParallelism(32)
		var next atomic.Int64
		b.RunParallel(func(pb *testing.PB) {
			m := c.Mutex(fmt.Sprint("n", next.Add(1)), nil)
			for pb.Next() {
				l, err := m.Lock(context.Background())
				if err != nil {
					b.Error(err)
					return
				}
				if err := l.Unlock(context.Background()); err != nil {
					b.Error(err)
				}
			}
		})
	})
}
