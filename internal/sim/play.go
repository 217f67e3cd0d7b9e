package sim

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Scenario is a kind of simulation.
type Scenario struct {
	// Name is that of its test.
	Name string
	// Plan draws a run: all of it, so that it can be left out in part.
	Plan func(s Seed) Plan
}

// Plan is one run before it begins.
type Plan interface {
	// Parts is how many parts the plan has that can be left out, each by itself.
	Parts() int
	// Part describes one of them.
	Part(i int) string
	// Play does what the plan says, but for the parts left out, in virtual time.
	// Nothing of it is left when it returns.
	Play(r *Report, with func(part int) bool)
}

// ruleLeft is broken by a run of which something is left when it is over.
const ruleLeft = "nothing is left running"

// runPlan runs a plan in a bubble of its own.
func runPlan(t *testing.T, p Plan, with func(int) bool, tracing bool) (r *Report) {
	r = &Report{tracing: tracing}
	defer func() {
		if problem := recover(); problem != nil {
			r.findings = append(r.findings, left(problem))
		}
	}()
	synctest.Test(t, func(*testing.T) {
		r.start = time.Now()
		p.Play(r, with)
	})
	return r
}

// left is what a bubble says of goroutines that are blocked for ever. Any other
// panic is the simulator's own fault.
func left(problem any) Finding {
	text := fmt.Sprint(problem)
	if !strings.HasPrefix(text, "deadlock:") {
		panic(problem)
	}
	return Finding{Rule: ruleLeft, What: text}
}

// everyPart is a plan with nothing left out.
func everyPart(int) bool { return true }
