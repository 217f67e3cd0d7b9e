// Package lockbench measures locks on a user's own backend: how many a second,
// how long the wait is, and how evenly the contenders get their turn.
package lockbench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/cmd/bedrock/internal/histogram"
	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/lock"
)

// Plan says what to run.
type Plan struct {
	// Clients compete as processes do: each with connections of its own.
	Clients []*lock.Client
	// Goroutines of each client compete too.
	Goroutines int
	// Names are the locks; the contenders are spread over them.
	Names    []string
	Duration time.Duration
	Kind
}

// Result is what was measured.
type Result struct {
	Contenders int           `json:"contenders"`
	Names      int           `json:"names"`
	Locks      int64         `json:"locks"`
	PerSecond  float64       `json:"per_second"`
	P50        time.Duration `json:"wait_p50_ns"`
	P99        time.Duration `json:"wait_p99_ns"`
	Max        time.Duration `json:"wait_max_ns"`
	// Fairness is Jain's index over the contenders of each name, the least of
	// all names: 1 when all get the same share, 1/n when one gets everything.
	Fairness float64 `json:"fairness"`
	// Errors counts failed operations; Err is the first of them.
	Errors int64 `json:"errors"`
	Err    error `json:"-"`
}

// contender locks and unlocks one name, or several at a time, until time is up.
type contender struct {
	take   taker
	waits  histogram.Times
	locks  int64
	errors int64
	err    error
}

// Run carries out the plan. It ends early when ctx ends.
func Run(ctx context.Context, plan Plan) Result {
	contenders := plan.contenders()
	ctx, cancel := context.WithTimeout(ctx, plan.Duration)
	defer cancel()
	start := time.Now()
	var group sync.WaitGroup
	for _, c := range contenders {
		group.Go(func() { c.run(ctx) })
	}
	group.Wait()
	return plan.sumUp(contenders, time.Since(start))
}

func (p *Plan) contenders() []*contender {
	var all []*contender
	for _, client := range p.Clients {
		for range p.Goroutines {
			all = append(all, &contender{take: p.takerOf(client, p.Names, len(all))})
		}
	}
	return all
}

func (c *contender) run(ctx context.Context) {
	for ctx.Err() == nil {
		start := time.Now()
		lease, err := c.take(ctx)
		if err != nil {
			c.countError(ctx, err)
			continue
		}
		c.waits.Add(time.Since(start))
		c.locks++
		if err := lease.Unlock(ctx); err != nil {
			c.countError(ctx, err)
		}
	}
}

const (
	// errorPause keeps a backend that fails from being asked in a tight loop.
	errorPause = 10 * time.Millisecond
	// lastMoment is how long before the end of the time a server may break a request off that it
	// was told the end of, as etcd is.
	lastMoment = 20 * time.Millisecond
)

// countError counts an error that is not just the end of the time.
func (c *contender) countError(ctx context.Context, err error) {
	end, ends := ctx.Deadline()
	over := ctx.Err() != nil || ends && time.Until(end) < lastMoment
	if over && !errors.Is(err, lock.ErrLost) {
		sleep.For(ctx, lastMoment)
		return
	}
	if c.errors++; c.err == nil {
		c.err = err
	}
	sleep.For(ctx, errorPause)
}

func (p *Plan) sumUp(contenders []*contender, took time.Duration) Result {
	r := Result{Contenders: len(contenders), Names: len(p.Names), Fairness: 1}
	var waits histogram.Times
	shares := make([][]int64, len(p.Names))
	for i, c := range contenders {
		waits.Merge(&c.waits)
		r.Locks += c.locks
		r.Errors += c.errors
		if r.Err == nil {
			r.Err = c.err
		}
		name := i % len(p.Names)
		shares[name] = append(shares[name], c.locks)
	}
	for _, of := range shares {
		r.Fairness = min(r.Fairness, jain(of))
	}
	r.PerSecond = float64(r.Locks) / took.Seconds()
	r.P50, r.P99, r.Max = waits.Quantile(0.50), waits.Quantile(0.99), waits.Longest()
	return r
}

// jain is (Σx)² / (n·Σx²).
func jain(shares []int64) float64 {
	var sum, squares float64
	for _, x := range shares {
		sum += float64(x)
		squares += float64(x) * float64(x)
	}
	if squares == 0 {
		return 1
	}
	return sum * sum / (float64(len(shares)) * squares)
}

// String returns the lines people read.
func (r Result) String() string {
	text := fmt.Sprintf(`contenders  %d on %d name(s)
locks       %d
rate        %.0f per second
wait        p50 %s, p99 %s, longest %s
fairness    %.3f (1 is even)
errors      %d
`, r.Contenders, r.Names, r.Locks, r.PerSecond,
		histogram.Round(r.P50), histogram.Round(r.P99), histogram.Round(r.Max), r.Fairness, r.Errors)
	if r.Err != nil {
		text += fmt.Sprintf("first error %v\n", r.Err)
	}
	return text
}
