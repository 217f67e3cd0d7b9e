package sqlite_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
)

func BenchmarkCreateFinish(b *testing.B) {
	for _, order := range []string{"ordered", "random"} {
		b.Run(order, func(b *testing.B) {
			createFinish(b, open(b, filepath.Join(b.TempDir(), "bedrock.db"), nil), order == "random")
		})
	}
}

// createFinish has 64 goroutines create a record and finish it, as coordinators
// do with a transaction that goes well.
func createFinish(b *testing.B, s driver.Store, random bool) {
	const callers = 64
	spec, state := bytes.Repeat([]byte("spec "), 60), bytes.Repeat([]byte("state"), 80)
	var next atomic.Int64
	var group sync.WaitGroup
	b.ResetTimer()
	for range callers {
		group.Go(func() {
			for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
				id := fmt.Sprintf("%012x%s", n, rand.Text())
				if random {
					id = rand.Text()
				}
				if err := once(b.Context(), s, id, spec, state); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	b.ReportMetric(2*float64(b.N)/b.Elapsed().Seconds(), "writes/s")
}

func once(ctx context.Context, s driver.Store, id string, spec, state []byte) error {
	now := time.Now()
	rec := &driver.Record{
		ID: id, Mode: "saga", Name: "order", Status: driver.Running, Owner: "host-1/42", Epoch: 1,
		Digest:  "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		Created: now, Updated: now, Due: now.Add(time.Minute), Deadline: now.Add(time.Hour), Spec: spec, State: state,
	}
	if err := s.Create(ctx, rec); err != nil {
		return err
	}
	was := rec.Version()
	rec.Status, rec.Finished, rec.Updated, rec.Due, rec.Spec = driver.Committed, now, now, time.Time{}, nil
	return s.Update(ctx, was, rec)
}
