// Package load makes load: clients that do the same thing again and again, each
// waiting for its answer before it goes on.
package load

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/bench/internal/stats"
)

// Tally is what clients did.
type Tally struct {
	Count   int64
	Elapsed time.Duration
	Times   *stats.Histogram
}

// Rate is how often a second.
func (t *Tally) Rate() float64 {
	if t.Elapsed <= 0 {
		return 0
	}
	return float64(t.Count) / t.Elapsed.Seconds()
}

// Do is what a client does.
type Do func(ctx context.Context, client int) error

// For lets clients do it for a time. The first error ends everything: a rate with
// failures in it would mean nothing.
func For(ctx context.Context, clients int, length time.Duration, do Do) (*Tally, error) {
	end := time.Now().Add(length)
	return run(ctx, clients, do, func() bool { return time.Now().Before(end) })
}

// Times lets clients do it a number of times in all.
func Times(ctx context.Context, clients, times int, do Do) (*Tally, error) {
	var mu sync.Mutex
	return run(ctx, min(clients, times), do, func() bool {
		mu.Lock()
		defer mu.Unlock()
		times--
		return times >= 0
	})
}

// run lets clients do it while more says so. What began in time counts.
func run(ctx context.Context, clients int, do Do, more func() bool) (*Tally, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	tallies := make([]Tally, clients)
	began := time.Now()
	var group sync.WaitGroup
	for i := range clients {
		group.Go(func() {
			if err := tallies[i].runClient(ctx, i, do, more); err != nil {
				stop(fmt.Errorf("client %d: %w", i, err))
			}
		})
	}
	group.Wait()
	sum := &Tally{Times: new(stats.Histogram), Elapsed: time.Since(began)}
	for _, t := range tallies {
		sum.Count += t.Count
		sum.Times.Merge(t.Times)
	}
	return sum, context.Cause(ctx)
}

// runClient is one client's life.
func (t *Tally) runClient(ctx context.Context, id int, do Do, more func() bool) error {
	t.Times = new(stats.Histogram)
	for ctx.Err() == nil && more() {
		began := time.Now()
		if err := do(ctx, id); err != nil {
			return err
		}
		t.Times.Add(time.Since(began))
		t.Count++
	}
	return nil
}

// Stretch is how many clients make load, and for how long.
type Stretch struct {
	Clients int
	Length  time.Duration
}
