package memstore_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/memstore"
	"github.com/bedrock-go/bedrock/txn/txntest"
)

func TestConformance(t *testing.T) {
	txntest.Run(t, func(testing.TB) driver.Store { return memstore.New(nil) })
}

// TestDueByAnotherClock: the store's clock decides, and may jump.
func TestDueByAnotherClock(t *testing.T) {
	var ahead atomic.Int64
	start := time.Now()
	s := memstore.New(&memstore.Options{Now: func() time.Time { return start.Add(time.Duration(ahead.Load())) }})
	rec := &driver.Record{ID: "a", Status: driver.Running, Due: start.Add(time.Hour)}
	if err := s.Create(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	claim := driver.Claim{Owner: "replica-1", Lease: time.Minute, Limit: 1}
	for _, step := range []struct {
		at   time.Duration
		want int
	}{{0, 0}, {2 * time.Hour, 1}, {time.Minute, 0}, {2*time.Hour + time.Minute, 1}} {
		ahead.Store(int64(step.at))
		claimed, err := s.Claim(t.Context(), claim)
		if err != nil || len(claimed.Records) != step.want {
			t.Fatalf("at %s: claimed %d records, %v; want %d", step.at, len(claimed.Records), err, step.want)
		}
		if d := claimed.Now.Sub(start) - step.at; d.Abs() > time.Microsecond {
			t.Errorf("at %s: the clock is %s off", step.at, d)
		}
	}
}

// BenchmarkClaim claims among many records that are not due.
func BenchmarkClaim(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s, ctx := memstore.New(nil), context.Background()
			for i := range n {
				rec := &driver.Record{
					ID: fmt.Sprint(i), Status: driver.Running, Created: time.Now(), Due: time.Now().Add(time.Hour),
				}
				if err := s.Create(ctx, rec); err != nil {
					b.Fatal(err)
				}
			}
			due := &driver.Record{ID: "due", Status: driver.Running, Due: time.Now()}
			if err := s.Create(ctx, due); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				claimed, err := s.Claim(ctx, driver.Claim{Owner: "replica-1", Limit: 100})
				if err != nil || len(claimed.Records) != 1 {
					b.Fatalf("%d records, %v", len(claimed.Records), err)
				}
			}
		})
	}
}
