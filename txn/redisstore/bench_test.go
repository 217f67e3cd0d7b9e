package redisstore_test

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// BenchmarkCreateFinish has 64 callers, each of which creates a transaction and
// finishes it: two writes per operation.
func BenchmarkCreateFinish(b *testing.B) {
	for _, fsync := range []string{"everysec", "always"} {
		b.Run(fsync, func(b *testing.B) {
			server := testenv.Redis(
				b, &testenv.RedisOptions{Args: []string{"--appendonly", "yes", "--appendfsync", fsync}},
			)
			benchmarkCreateFinish(b, server)
		})
	}
}

func benchmarkCreateFinish(b *testing.B, server *testenv.RedisServer) {
	s := open(b, connect(b, server), nil)
	spec, state := bytes.Repeat([]byte("s"), 300), bytes.Repeat([]byte("t"), 400)
	var next, failed atomic.Int64
	work := func() {
		ctx := context.Background()
		for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
			now := time.Now()
			rec := &driver.Record{
				ID: fmt.Sprintf("bench-%d", i), Mode: "saga", Name: "order", Status: driver.Running,
				Owner: "replica-1", Epoch: 1,
				Created: now, Updated: now, Due: now.Add(time.Minute), Deadline: now.Add(time.Hour),
				Spec: spec, State: state[:50],
			}
			err := s.Create(ctx, rec)
			rec.Status, rec.Due, rec.Finished, rec.Spec, rec.State = driver.Committed, time.Time{}, now, nil, state
			if err == nil {
				err = s.Update(ctx, rec.Version(), rec)
			}
			if err != nil {
				failed.Add(1)
			}
		}
	}
	b.ReportAllocs()
	b.ResetTimer()
	var callers sync.WaitGroup
	for range 64 {
		callers.Go(work)
	}
	callers.Wait()
	b.ReportMetric(2*float64(b.N)/b.Elapsed().Seconds(), "writes/s")
	if failed.Load() > 0 {
		b.Fatalf("%d transactions failed", failed.Load())
	}
}

// BenchmarkIdleClaim is what a poll costs when nothing is due.
func BenchmarkIdleClaim(b *testing.B) {
	s := open(b, connect(b, durable(b)), nil)
	ctx := context.Background()
	for b.Loop() {
		if _, err := s.Claim(ctx, driver.Claim{Owner: "replica-1", Lease: time.Minute, Limit: 100}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkClaim claims records by the hundred out of a backlog.
func BenchmarkClaim(b *testing.B) {
	s := open(b, connect(b, testenv.Redis(b, &testenv.RedisOptions{Args: []string{"--appendonly", "yes"}})), nil)
	ctx := context.Background()
	const backlog = 20_000
	var callers sync.WaitGroup
	for c := range 64 {
		callers.Go(func() {
			for i := c; i < backlog; i += 64 {
				rec := &driver.Record{
					ID: fmt.Sprint("b", i), Status: driver.Running, Due: time.Now().Add(-time.Hour),
					Spec: make([]byte, 300),
				}
				if err := s.Create(ctx, rec); err != nil {
					b.Error(err)
				}
			}
		})
	}
	callers.Wait()
	claimed := 0
	for b.Loop() {
		c, err := s.Claim(ctx, driver.Claim{Owner: "replica-1", Lease: -time.Minute, Limit: 100})
		if err != nil || len(c.Records) != 100 {
			b.Fatalf("%d records, %v", len(c.Records), err)
		}
		claimed += len(c.Records)
	}
	b.ReportMetric(float64(claimed)/b.Elapsed().Seconds(), "records/s")
}
