package load_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/bench/internal/load"
)

func TestTimesCountsExactly(t *testing.T) {
	var done atomic.Int64
	tally, err := load.Times(t.Context(), 16, 1000, func(context.Context, int) error {
		done.Add(1)
		return nil
	})
	if err != nil || done.Load() != 1000 || tally.Count != 1000 || tally.Times.Total() != 1000 {
		t.Errorf("done %d, counted %d, %v; want 1000", done.Load(), tally.Count, err)
	}
}

func TestOneFailureEndsEverybodysWork(t *testing.T) {
	broken := errors.New("broken")
	_, err := load.For(t.Context(), 8, time.Minute, func(ctx context.Context, client int) error {
		if client == 3 {
			return broken
		}
		<-ctx.Done() // the others wait for an answer
		return ctx.Err()
	})
	if !errors.Is(err, broken) {
		t.Errorf("error = %v, want that of the client that failed", err)
	}
}

func TestUntilEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	err := load.Until(ctx, time.Hour, func() (bool, error) {
		cancel()
		return false, nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want canceled", err)
	}
}
