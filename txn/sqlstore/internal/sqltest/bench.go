package sqltest

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// CreateFinish measures 64 callers that create a record and finish it, as a
// coordinator does with a transaction that goes well.
func CreateFinish(b *testing.B, s driver.Store) {
	b.Helper()
	const callers = 64
	spec, state := bytes.Repeat([]byte("spec "), 60), bytes.Repeat([]byte("state"), 80)
	var next atomic.Int64
	var group sync.WaitGroup
	b.ResetTimer()
	for range callers {
		group.Go(func() {
			for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
				if err := createFinish(b.Context(), s, name(n), spec, state); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	b.ReportMetric(2*float64(b.N)/b.Elapsed().Seconds(), "writes/s")
}

// name is an ID that rises with time, as those that coordinators give do.
func name(n int64) string { return fmt.Sprintf("%012x%s", n, rand.Text()[:20]) }

func createFinish(ctx context.Context, s driver.Store, id string, spec, state []byte) error {
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
