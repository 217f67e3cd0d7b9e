// Package txbench measures transactions on a user's own server or store: how many
// a second, and how long one takes.
package txbench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/cmd/bedrock/internal/histogram"
	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/txn"
)

// Plan says what to run.
type Plan struct {
	Coordinator txn.Coordinator
	// Definition is what every caller runs, again and again.
	Definition txn.Definition
	// Callers is how many run at once; each waits for the outcome of one transaction
	// before it submits the next.
	Callers  int
	Duration time.Duration
}

// Result is what was measured.
type Result struct {
	Callers    int           `json:"callers"`
	Branches   int           `json:"branches"`
	Committed  int64         `json:"committed"`
	RolledBack int64         `json:"rolled_back"`
	PerSecond  float64       `json:"per_second"`
	P50        time.Duration `json:"took_p50_ns"`
	P99        time.Duration `json:"took_p99_ns"`
	Max        time.Duration `json:"took_max_ns"`
	// Errors counts those whose outcome was not learnt; Err is the first of them.
	Errors int64 `json:"errors"`
	Err    error `json:"-"`
}

// caller runs one transaction after the other until time is up.
type caller struct {
	times                         histogram.Times
	committed, rolledBack, errors int64
	err                           error
}

// Run carries out the plan. Transactions under way when the time is up are waited
// for, and counted. It ends early when ctx ends.
func Run(ctx context.Context, p Plan) Result {
	callers := make([]caller, p.Callers)
	start := time.Now()
	var group sync.WaitGroup
	for i := range callers {
		group.Go(func() { callers[i].run(ctx, &p, start.Add(p.Duration)) })
	}
	group.Wait()
	return p.sumUp(callers, time.Since(start))
}

func (c *caller) run(ctx context.Context, p *Plan, end time.Time) {
	for ctx.Err() == nil && time.Now().Before(end) {
		start := time.Now()
		_, err := p.Coordinator.Run(ctx, p.Definition)
		took := time.Since(start)
		var rolledBack *txn.RolledBackError
		switch {
		case err == nil:
			c.committed++
		case errors.As(err, &rolledBack):
			c.rolledBack++
		default:
			c.countError(ctx, err)
			continue
		}
		c.times.Add(took)
	}
}

// errorPause keeps a server that fails from being asked in a tight loop.
const errorPause = 10 * time.Millisecond

func (c *caller) countError(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	if c.errors++; c.err == nil {
		c.err = err
	}
	sleep.For(ctx, errorPause)
}

func (p *Plan) sumUp(callers []caller, took time.Duration) Result {
	r := Result{Callers: len(callers), Branches: len(p.Definition.Branches)}
	var times histogram.Times
	for i := range callers {
		c := &callers[i]
		times.Merge(&c.times)
		r.Committed += c.committed
		r.RolledBack += c.rolledBack
		r.Errors += c.errors
		if r.Err == nil {
			r.Err = c.err
		}
	}
	r.PerSecond = float64(r.Committed+r.RolledBack) / took.Seconds()
	r.P50, r.P99, r.Max = times.Quantile(0.50), times.Quantile(0.99), times.Longest()
	return r
}

// String returns the lines people read.
func (r Result) String() string {
	text := fmt.Sprintf(`callers      %d, transactions of %d branches
committed    %d
rolled back  %d
rate         %.0f per second
took         p50 %s, p99 %s, longest %s
errors       %d
`, r.Callers, r.Branches, r.Committed, r.RolledBack, r.PerSecond,
		histogram.Round(r.P50), histogram.Round(r.P99), histogram.Round(r.Max), r.Errors)
	if r.Err != nil {
		text += fmt.Sprintf("first error  %v\n", r.Err)
	}
	return text
}
