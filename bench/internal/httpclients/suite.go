package httpclients

import (
	"context"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/bench/internal/child"
	"github.com/bedrock-go/bedrock/bench/internal/stats"
)

// Suite is one run of the measurement.
type Suite struct {
	// Rounds is how often everything is measured; Length for how long each time.
	Rounds int
	Length time.Duration
	// Progress is told what is being measured, if not nil.
	Progress func(line string)
}

// Row is what was found for a candidate, a kind of call and a number of them at a time:
// medians over all rounds.
type Row struct {
	Kind, Candidate string
	AtATime         int
	CPU             time.Duration // of the calling process, per call
	Allocations     float64       // per call
	P50, P99        time.Duration
	Rate            float64 // calls a second
	// Gain is by how much less processor time a call takes than with net/http as it is
	// shipped, as a part of what ours gains: 1 is as much.
	Gain float64

	samples []sample
	open    func(address string) (Client, error)
	kind    Kind
}

// Run measures all candidates in turn, several times over, so that a noisy machine
// disturbs all alike.
func (s *Suite) Run(ctx context.Context) ([]*Row, error) {
	var address string
	server, err := child.Start(ctx, Role, struct{}{}, &address)
	if err != nil {
		return nil, err
	}
	defer server.Kill()
	rows := allRows()
	for round := range s.Rounds {
		for i := range rows {
			// Each round starts elsewhere, so that none always follows the same neighbour.
			if err := s.measureRow(ctx, rows[(i+round)%len(rows)], address, round); err != nil {
				return nil, err
			}
		}
	}
	for _, r := range rows {
		r.summarize()
	}
	reckonGains(rows)
	return rows, nil
}

// allRows returns what is measured, without figures.
func allRows() []*Row {
	var all []*Row
	for _, kind := range kinds() {
		for _, many := range []int{1, 64} {
			for _, c := range Candidates() {
				all = append(all, &Row{Kind: kind.Name, Candidate: c.Name, AtATime: many, open: c.Open, kind: kind})
			}
		}
	}
	return all
}

func (s *Suite) measureRow(ctx context.Context, r *Row, address string, round int) error {
	if s.Progress != nil {
		s.Progress(fmt.Sprintf("round %d/%d  %s, %d at a time, %s", round+1, s.Rounds, r.Kind, r.AtATime, r.Candidate))
	}
	c, err := r.open(address)
	if err != nil {
		return err
	}
	defer c.Close()
	one, err := takeSample(ctx, r.kind.caller(c, address), r.AtATime, s.Length)
	if err != nil {
		return fmt.Errorf("%s, %s: %w", r.Kind, r.Candidate, err)
	}
	r.samples = append(r.samples, one)
	return nil
}

// summarize makes medians of the samples.
func (r *Row) summarize() {
	middle := func(of func(sample) float64) float64 {
		var values []float64
		for _, one := range r.samples {
			values = append(values, of(one))
		}
		return stats.Median(values)
	}
	r.CPU = time.Duration(middle(func(one sample) float64 { return float64(one.cpu) }))
	r.P50 = time.Duration(middle(func(one sample) float64 { return float64(one.p50) }))
	r.P99 = time.Duration(middle(func(one sample) float64 { return float64(one.p99) }))
	r.Allocations = middle(func(one sample) float64 { return one.allocations })
	r.Rate = middle(func(one sample) float64 { return one.rate })
}

// reckonGains compares each row with those of ours and of net/http for the same calls.
func reckonGains(rows []*Row) {
	type calls struct {
		kind, candidate string
		atATime         int
	}
	cpu := make(map[calls]time.Duration, len(rows))
	for _, r := range rows {
		cpu[calls{r.Kind, r.Candidate, r.AtATime}] = r.CPU
	}
	for _, r := range rows {
		base := cpu[calls{r.Kind, shippedName, r.AtATime}]
		ours := cpu[calls{r.Kind, oursName, r.AtATime}]
		r.Gain = float64(base-r.CPU) / float64(base-ours)
	}
}
