package lock_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock"
)

// turns are those of a goroutine that has a lock, for so long each time.
type turns struct {
	take func(context.Context) (*lock.Lease, error)
	time time.Duration
}

// takeTurns returns how many turns each has had in that time.
func takeTurns(t *testing.T, d time.Duration, all []turns) []int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	counts := make([]atomic.Int64, len(all))
	var group sync.WaitGroup
	for i, of := range all {
		group.Go(func() {
			for {
				lease, err := of.take(ctx)
				if errors.Is(err, context.DeadlineExceeded) {
					return
				}
				wantErr(t, err, nil)
				counts[i].Add(1)
				time.Sleep(of.time)
				mustUnlock(t, lease)
			}
		})
	}
	group.Wait()
	had := make([]int, len(all))
	for i := range counts {
		had[i] = int(counts[i].Load())
	}
	return had
}

func total(counts []int) (sum int) {
	for _, n := range counts {
		sum += n
	}
	return sum
}

// wantShares fails the test if somebody got less than a tenth of an equal share.
func wantShares(t *testing.T, counts []int) {
	t.Helper()
	wantPart(t, 10, counts)
}

// wantPart fails the test if somebody got less than such a part of an equal share.
func wantPart(t *testing.T, part int, counts []int) {
	t.Helper()
	for _, n := range counts {
		if n*part*len(counts) < total(counts) {
			t.Errorf("somebody was starved: %v", counts)
			return
		}
	}
}
