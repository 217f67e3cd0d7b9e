package sqltest

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// backlog is how much is due after an outage, and how much is not.
const backlog = 100_000

// Claims measures claims of 100 records of a backlog, and claims that find
// nothing beside as many that are not due.
func Claims(b *testing.B, s driver.Store) {
	b.Helper()
	var next atomic.Int64
	var group sync.WaitGroup
	for range 64 {
		group.Go(func() {
			for n := next.Add(1); n <= 2*backlog; n = next.Add(1) {
				rec := dueRecord(name(n))
				if n%2 == 0 {
					rec.Due = rec.Due.Add(24 * time.Hour)
				}
				if err := s.Create(b.Context(), rec); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	// What is claimed is due again at once, so that there is always more.
	b.Run("100", func(b *testing.B) { claims(b, s, driver.Claim{Limit: 100, Lease: time.Nanosecond}, 100) })
	b.Run(
		"nothing",
		func(b *testing.B) { claims(b, s, driver.Claim{Limit: 100, Target: "nobody", Lease: time.Hour}, 0) },
	)
}

func claims(b *testing.B, s driver.Store, c driver.Claim, want int) {
	b.Helper()
	c.Owner = "host-1/42"
	for b.Loop() {
		got, err := s.Claim(b.Context(), c)
		if err != nil || len(got.Records) != want {
			b.Fatalf("%d records, %v", len(got.Records), err)
		}
	}
}
