// Package nemesis does faults to a run, one after another, and writes down when, and how
// it is known that they happened.
package nemesis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/internal/torture/history"
)

// Excuses are the promises that a fault legitimately breaks, for its time and a while
// after it. What is not excused must hold under the fault as well.
type Excuses struct {
	// Loss: leases may be lost.
	Loss bool `json:"loss,omitempty"`
	// Wait: nobody may be able to go on.
	Wait bool `json:"wait,omitempty"`
	// Twice: a store may grant a lock a second time.
	Twice bool `json:"twice,omitempty"`
	// Outcome: transactions may end otherwise than their business alone would have it.
	Outcome bool `json:"outcome,omitempty"`
}

// Fault is something that can be done to a run.
type Fault struct {
	Name    string
	Excuses Excuses
	// Weight is how often it is chosen, beside the others. Zero: 1.
	Weight int
	// Strike does it and repairs it.
	Strike func(ctx context.Context, random *rand.Rand) (Effect, error)
}

// Effect is what a fault has done.
type Effect struct {
	// Evidence is how it is known that it happened.
	Evidence string
	// Hit names who was hit; none means everybody.
	Hit []string
	// Lock is the only one that it was done to, if it was not done to all of them.
	Lock string
	// From and To are when the fault was certainly there, where that matters.
	From, To time.Duration
}

// Window is the time of a fault, until it was repaired.
type Window struct {
	Kind string        `json:"kind"`
	From time.Duration `json:"from"`
	To   time.Duration `json:"to"`
	// Effect is what it has done.
	Effect  Effect  `json:"effect"`
	Excuses Excuses `json:"excuses,omitzero"`
	// Problem says why the fault cannot be shown to have happened.
	Problem string `json:"problem,omitempty"`
}

// Meets reports whether a fault, and the time after it, meets a span of time.
func (w *Window) Meets(from, to, after time.Duration) bool {
	return w.From <= to && from <= w.To+after
}

// Hits reports whether somebody was hit.
func (w *Window) Hits(who string) bool {
	return len(w.Effect.Hit) == 0 || slices.Contains(w.Effect.Hit, who)
}

// Concerns reports whether a fault was done to a lock.
func (w *Window) Concerns(name string) bool { return w.Effect.Lock == "" || w.Effect.Lock == name }

// Schedule says which faults are done, and how often.
type Schedule struct {
	Faults []Fault
	Random *rand.Rand
	// Rest is the mean of the pauses between two faults. Every fourth is four times as
	// long: what a fault has left behind shows when nothing excuses it any more.
	Rest time.Duration
	// Tell gets each fault when it is repaired.
	Tell func(Window)
}

// errNoEvidence is a fault that may not have happened.
var errNoEvidence = errors.New("there is no sign that it happened")

// Run does faults until ctx ends: every one once, those with a greater weight first and
// otherwise in a random order, and then random ones. A fault under way is brought to its
// end.
func (s *Schedule) Run(ctx context.Context) {
	order := s.Random.Perm(len(s.Faults))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.Faults[b].Weight, s.Faults[a].Weight) })
	for i := 0; len(s.Faults) > 0; i++ {
		if !sleep.For(ctx, s.restAfter(i)) {
			return
		}
		if i < len(order) {
			s.strike(ctx, &s.Faults[order[i]])
		} else {
			s.strike(ctx, s.choose())
		}
	}
}

func (s *Schedule) restAfter(i int) time.Duration {
	rest := Between(s.Random, s.Rest/2, s.Rest*3/2)
	if i%4 == 3 {
		rest *= 4
	}
	return rest
}

func (s *Schedule) choose() *Fault {
	total := 0
	for i := range s.Faults {
		total += max(s.Faults[i].Weight, 1)
	}
	n := s.Random.IntN(total)
	for i := range s.Faults {
		if n -= max(s.Faults[i].Weight, 1); n < 0 {
			return &s.Faults[i]
		}
	}
	return &s.Faults[0]
}

func (s *Schedule) strike(ctx context.Context, f *Fault) {
	w := Window{Kind: f.Name, From: history.Now(), Excuses: f.Excuses}
	effect, err := f.Strike(context.WithoutCancel(ctx), s.Random)
	if err == nil && effect.Evidence == "" {
		err = errNoEvidence
	}
	w.To, w.Effect = history.Now(), effect
	if err != nil {
		w.Problem = fmt.Sprintf("%s: %v", f.Name, err)
	}
	s.Tell(w)
}

// Between is a random time from least to most.
func Between(random *rand.Rand, least, most time.Duration) time.Duration {
	return least + time.Duration(random.Int64N(int64(most-least)+1))
}
