// Package txns simulates replicas of the coordinator on one store: with a network
// that fails between them, participants that misbehave, clients that change their
// minds, and replicas that stop and die.
package txns

import (
	"fmt"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/internal/sim"
	"github.com/bedrock-go/bedrock/txn"
)

// script is one run.
type script struct {
	seed     sim.Seed
	length   time.Duration
	limit    time.Duration // of one call
	busy     bool          // many transactions over few slots
	messy    bool          // steps side by side, some of which fail while others take long
	barred   bool          // participants stand behind the real barrier, and calls arrive twice
	ambush   bool          // the store freezes and a replica stops amid the work
	replicas []site
	targets  []target
	ops      []op
	moods    []mood
	ends     []end
	troubles []sim.Trouble
}

// site is where a replica is, and how it is set up.
type site struct {
	near, far           time.Duration
	lease, poll         time.Duration
	perTarget, claimers int
	active              int
	tracer              time.Duration // the longest that tracing holds a call up
}

// target is a participant.
type target struct {
	name      txn.Target
	near, far time.Duration // how long it takes
}

// deed is what a client does.
type deed string

const (
	submits    deed = "submits"
	runs       deed = "runs"
	begins     deed = "begins"
	repeats    deed = "submits again"
	enlists    deed = "enlists in"
	commits    deed = "commits"
	rollsBack  deed = "rolls back"
	waits      deed = "waits for"
	retries    deed = "retries"
	parks      deed = "parks"
	resumes    deed = "resumes"
	compensate deed = "compensates"
	abandons   deed = "abandons"
)

// op is what a client does once.
type op struct {
	at      time.Duration
	replica int
	deed    deed
	id      string
	limit   time.Duration // of its context
	make    func() txn.Definition
}

func (o op) String() string {
	text := fmt.Sprintf("%s: a client of replica %d %s %s, within %s", o.at, o.replica, o.deed, o.id, o.limit)
	if o.make != nil {
		text += ": " + describe(o.make())
	}
	return text
}

// ill is how a participant misbehaves.
type ill string

const (
	fails    ill = "fails"
	silent   ill = "does not answer"
	hangs    ill = "hangs, whatever its context says"
	panics   ill = "panics"
	exits    ill = "ends its goroutine"
	refuses  ill = "refuses"
	works    ill = "is still at work"
	slow     ill = "is slow"
	forgets  ill = "does it and fails"
	babbling ill = "returns much"
)

// mood is an ill that lasts for a while.
type mood struct {
	target   int
	ill      ill
	from, to time.Duration
	share    float64
}

func (m mood) String() string {
	return fmt.Sprintf("%s to %s: target %d %s, %.0f %% of the calls", m.from, m.to, m.target, m.ill, 100*m.share)
}

// end is that of a replica, which may come back.
type end struct {
	replica int
	at      time.Duration
	crash   bool
	back    time.Duration // how long afterwards it is there again
}

func (e end) String() string {
	how := "stops"
	if e.crash {
		how = "dies"
	}
	return fmt.Sprintf("%s: replica %d %s, and is back %s later", e.at, e.replica, how, e.back)
}

// Scenario is the simulation of transactions.
func Scenario() sim.Scenario {
	return sim.Scenario{Name: "txns", Plan: func(s sim.Seed) sim.Plan { return drawScript(s) }}
}

// Parts implements [sim.Plan].
func (p *script) Parts() int { return len(p.ops) + len(p.moods) + len(p.ends) + len(p.troubles) }

// Part implements [sim.Plan].
func (p *script) Part(i int) string {
	if i < len(p.ops) {
		return p.ops[i].String()
	}
	i -= len(p.ops)
	if i < len(p.moods) {
		return p.moods[i].String()
	}
	i -= len(p.moods)
	if i < len(p.ends) {
		return p.ends[i].String()
	}
	return p.troubles[i-len(p.ends)].String()
}

// String describes what cannot be left out.
func (p *script) String() string {
	return fmt.Sprintf("replicas %+v\ntargets %+v", p.replicas, p.targets)
}

// without is the plan with only some of its parts.
func (p *script) without(with func(int) bool) *script {
	q, i := *p, 0
	q.ops = sim.Some(p.ops, with, &i)
	q.moods = sim.Some(p.moods, with, &i)
	q.ends = sim.Some(p.ends, with, &i)
	q.troubles = sim.Some(p.troubles, with, &i)
	return &q
}

func describe(d txn.Definition) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s, time-out %s, parallel %d", d.Mode, d.Timeout, d.Parallel)
	for i := range d.Branches {
		b := &d.Branches[i]
		fmt.Fprintf(&text, "; %s after %v: %s, %s, %s", b.ID, b.After, b.Do, b.Confirm, b.Undo)
		if b.Policy != nil {
			fmt.Fprintf(&text, " %+v", *b.Policy)
		}
	}
	if d.Check != nil {
		fmt.Fprintf(&text, "; check %s after %s", d.Check.Target, d.Check.After)
	}
	return text.String()
}
