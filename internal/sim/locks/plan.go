// Package locks simulates clients of package lock on one store: far and near ones,
// with a network that fails between them.
package locks

import (
	"fmt"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/internal/sim"
	"github.com/bedrock-go/bedrock/lock"
)

// plan is one run.
type plan struct {
	seed     sim.Seed
	length   time.Duration
	clients  []site
	names    int
	handOff  lock.HandOff
	patience time.Duration
	ops      []op
	troubles []sim.Trouble
	steps    []step
	lags     lags
	real     bool // memlock is the server
	passes   bool // locks are passed on
}

// site is where a client is.
type site struct {
	near, far time.Duration
	shards    int
	workers   int
	leaves    bool // its calls go on when their callers have gone
	old       bool // it stands in no line
	linger    time.Duration
}

// step is a jump of the server's clock.
type step struct {
	at, by time.Duration
}

func (s step) String() string { return fmt.Sprintf("%s: the server's clock jumps by %s", s.at, s.by) }

// deed is what an op does.
type deed string

const (
	locks  deed = "lock"
	tries  deed = "try"
	forces deed = "force"
)

// op is what a worker does once.
type op struct {
	client, worker int
	deed           deed
	pause          time.Duration // before
	name           string
	opts           lock.MutexOptions
	hold           time.Duration
	cancel         time.Duration // of the wait, 0 for never
	again          int           // how often it is entered once more
	hurry          time.Duration // for the unlock: its context's time, 0 for no end
}

func (o op) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "client %d, worker %d: after %s %s %s with TTL %s",
		o.client, o.worker, o.pause, o.deed, o.name, o.opts.TTL)
	for _, part := range []struct {
		name string
		d    time.Duration
	}{
		{"holds it for", o.hold},
		{"cancels after", o.cancel},
		{"waits at most", o.opts.Wait},
		{"keeps it for", o.opts.MinHold},
		{"unlocks within", o.hurry},
	} {
		if part.d != 0 {
			fmt.Fprintf(&text, ", %s %s", part.name, part.d)
		}
	}
	if o.opts.Fixed {
		text.WriteString(", fixed")
	}
	if o.again > 0 {
		fmt.Fprintf(&text, ", enters it %d times more", o.again)
	}
	return text.String()
}

// Scenario is the simulation of locks.
func Scenario() sim.Scenario {
	return sim.Scenario{Name: "locks", Plan: func(s sim.Seed) sim.Plan { return drawPlan(s) }}
}

// Parts implements [sim.Plan].
func (p *plan) Parts() int { return len(p.ops) + len(p.troubles) + len(p.steps) + len(p.lags.spans) }

// Part implements [sim.Plan].
func (p *plan) Part(i int) string {
	if i < len(p.ops) {
		return p.ops[i].String()
	}
	i -= len(p.ops)
	if i < len(p.troubles) {
		return p.troubles[i].String()
	}
	i -= len(p.troubles)
	if i < len(p.steps) {
		return p.steps[i].String()
	}
	lag := p.lags.spans[i-len(p.steps)]
	return fmt.Sprintf("%s to %s: replicas are behind", lag.from, lag.to)
}

// String describes what cannot be left out.
func (p *plan) String() string {
	return fmt.Sprintf("clients %v, hand-off %v, patience %s", p.clients, p.handOff, p.patience)
}

// without is the plan with only some of its parts.
func (p *plan) without(with func(int) bool) *plan {
	q, i := *p, 0
	q.ops = sim.Some(p.ops, with, &i)
	q.troubles = sim.Some(p.troubles, with, &i)
	q.steps = sim.Some(p.steps, with, &i)
	q.lags.spans = sim.Some(p.lags.spans, with, &i)
	return &q
}
