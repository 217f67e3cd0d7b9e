package txns

import (
	"fmt"
	"slices"
	"time"

	"github.com/bedrock-go/bedrock/internal/sim"
	"github.com/bedrock-go/bedrock/txn"
)

// drawer draws the parts of a plan.
type drawer struct {
	*sim.Rand
	plan *script
}

func drawScript(s sim.Seed) *script {
	r := s.Named("txns").Rand()
	d := &drawer{
		Rand: r, plan: &script{seed: s, length: r.Between(3*time.Second, 30*time.Second), busy: r.Chance(0.25)},
	}
	d.plan.messy = !d.plan.busy && r.Chance(0.2)
	d.plan.limit = sim.Pick(r, 300*time.Millisecond, time.Second, 3*time.Second)
	d.plan.barred = r.Chance(0.15)
	d.plan.ambush = !d.plan.busy && !d.plan.messy && r.Chance(0.1)
	if d.plan.ambush {
		d.plan.limit = 3 * time.Second
	}
	d.drawReplicas()
	d.drawTargets()
	d.drawOps()
	if d.plan.messy {
		d.drawMess()
	} else if r.Chance(0.75) {
		for range r.Number(1, 5) {
			d.plan.moods = append(d.plan.moods, d.drawMood())
		}
	}
	if !d.plan.messy && r.Chance(0.15) {
		d.drawAiling()
	}
	if d.plan.ambush {
		d.drawAmbush()
	} else if r.Chance(0.4) {
		for range r.Number(1, 6) {
			d.plan.ends = append(d.plan.ends, end{
				replica: d.replica(), at: d.moment(), crash: r.Chance(0.3), back: r.Between(0, 3*time.Second),
			})
		}
		slices.SortFunc(d.plan.ends, func(a, b end) int { return int(a.at - b.at) })
	}
	if r.Chance(0.4) {
		for range r.Number(1, 4) {
			d.plan.troubles = append(d.plan.troubles, d.drawTrouble())
		}
	}
	return d.plan
}

// drawAmbush lets all begin at about the same time, and then freezes the store, in which
// leases fall due, and stops replicas that wait for it.
func (d *drawer) drawAmbush() {
	at := d.Between(time.Second, 3*time.Second)
	for i := range d.plan.ops {
		d.plan.ops[i].at = at + d.Between(-700*time.Millisecond, 300*time.Millisecond)
	}
	for i := range d.plan.replicas {
		s := &d.plan.replicas[i]
		s.lease, s.tracer = time.Second, d.plan.limit/4
		d.plan.ends = append(d.plan.ends, end{
			replica: i, at: at + d.Between(0, time.Second), back: d.Between(0, 3*time.Second),
		})
	}
	d.plan.troubles = append(d.plan.troubles, sim.Trouble{
		Ill: sim.Frozen, Link: sim.Everybody, From: at, To: at + d.Between(time.Second, 4*time.Second), Share: 1,
	})
}

// drawMess has every target fail or be slow, now and then, all the time.
func (d *drawer) drawMess() {
	for i := range d.plan.targets {
		d.plan.moods = append(d.plan.moods, mood{
			target: i, ill: sim.Pick(d.Rand, fails, slow), to: d.plan.length, share: 0.6,
		})
	}
}

// drawAiling has one participant fail most of the time, and quickly, while the store is
// further away: it recovers now and then, for one call.
func (d *drawer) drawAiling() {
	target := d.IntN(len(d.plan.targets))
	t := &d.plan.targets[target]
	t.near, t.far = 100*time.Microsecond, 200*time.Microsecond
	from := d.Between(0, d.plan.length/4)
	d.plan.moods = append(d.plan.moods, mood{
		target: target, ill: fails, from: from, to: d.plan.length, share: d.Float64()*0.2 + 0.75,
	})
}

// moment is any time, or shortly after somebody has asked for something.
func (d *drawer) moment() time.Duration {
	if d.Chance(0.4) {
		return d.Between(0, d.plan.length)
	}
	at := d.plan.ops[d.IntN(len(d.plan.ops))].at
	return max(at, 0) +
		sim.Pick(d.Rand, d.Between(0, 5*time.Millisecond), d.Between(0, 40*time.Millisecond), d.Between(0, time.Second))
}

func (d *drawer) drawTrouble() sim.Trouble {
	t := sim.DrawTrouble(d.Rand, len(d.plan.replicas), d.plan.length)
	at := d.moment()
	t.From, t.To = at, at+t.To-t.From
	return t
}

func (d *drawer) drawReplicas() {
	for range d.Number(1, 3) {
		near := sim.Pick(d.Rand, 100*time.Microsecond, time.Millisecond, 5*time.Millisecond, 50*time.Millisecond)
		s := site{
			near: near, far: near + near/2,
			lease: sim.Pick(d.Rand, time.Second, 2*time.Second, 5*time.Second),
			poll:  sim.Pick(d.Rand, 100*time.Millisecond, 500*time.Millisecond),
		}
		if d.plan.busy {
			s.perTarget = d.Number(1, 4)
		}
		if d.Chance(0.1) {
			s.active = d.Number(2, 20)
		}
		if d.Chance(0.3) {
			s.tracer = sim.Pick(d.Rand, 5*time.Millisecond, d.plan.limit/4)
		}
		d.plan.replicas = append(d.plan.replicas, s)
	}
}

func (d *drawer) drawTargets() {
	for i := range d.Number(2, 7) {
		near := sim.Pick(d.Rand, 100*time.Microsecond, 3*time.Millisecond, 20*time.Millisecond, 200*time.Millisecond,
			d.plan.limit/2)
		if d.plan.busy {
			near += d.plan.limit / 4
		}
		near = min(near, d.plan.limit/2) // with what tracing takes, it is done in time
		t := target{name: txn.Target(fmt.Sprintf("t%d", i)), near: near, far: near + near/4}
		if d.Chance(0.4) {
			t.name = txn.Target(fmt.Sprintf("http://h%d.example/t%d", i%2, i))
		}
		d.plan.targets = append(d.plan.targets, t)
	}
}

func (d *drawer) drawOps() {
	n := d.Number(2, 25)
	if d.plan.busy {
		n = d.Number(20, 60)
	}
	rush := sim.Pick(d.Rand, d.plan.length/8, d.plan.length)
	for i := range n {
		d.drawTransaction(fmt.Sprintf("x%d", i), d.Between(0, rush))
	}
	slices.SortStableFunc(d.plan.ops, func(a, b op) int { return int(a.at - b.at) })
}

// drawTransaction draws what a client does with one transaction.
func (d *drawer) drawTransaction(id string, at time.Duration) {
	seed := d.plan.seed.Named(id)
	begun := d.Chance(0.3)
	definition := func() txn.Definition { return define(seed.Rand(), d.plan, id, begun) }
	first := op{at: at, replica: d.replica(), deed: submits, id: id, limit: d.drawLimit(), make: definition}
	switch {
	case begun:
		first.deed = begins
	case d.Chance(0.5):
		first.deed, first.limit = runs, first.limit+d.Between(0, 10*time.Second)
	}
	d.plan.ops = append(d.plan.ops, first)
	if begun {
		d.drawCompletion(id, at, definition().Timeout)
	} else if d.Chance(0.1) {
		again := first
		again.at, again.deed, again.replica = at+d.soon(), repeats, d.replica()
		d.plan.ops = append(d.plan.ops, again)
	}
	for d.Chance(0.2) {
		d.plan.ops = append(d.plan.ops, op{
			at: at + d.Between(0, 5*time.Second), replica: d.replica(), id: id, limit: d.drawLimit(),
			deed: sim.Pick(d.Rand, rollsBack, waits, retries, parks, resumes, compensate, commits, abandons),
		})
	}
}

// drawCompletion draws how a client completes what it has begun: in good time, about
// when the time is over, or never.
func (d *drawer) drawCompletion(id string, at, timeout time.Duration) {
	then := at +
		sim.Pick(d.Rand, d.soon(), d.Between(0, time.Second),
			timeout-5*time.Millisecond+d.Between(0, 10*time.Millisecond),
			timeout+d.Between(0, 300*time.Millisecond))
	for range d.Number(0, 2) {
		d.plan.ops = append(d.plan.ops, op{
			at: then - d.soon(), replica: d.replica(), deed: enlists, id: id, limit: d.drawLimit(),
		})
	}
	if d.Chance(0.9) {
		d.plan.ops = append(d.plan.ops, op{
			at: then, replica: d.replica(), deed: sim.Pick(d.Rand, commits, commits, commits, rollsBack), id: id,
			limit: d.drawLimit(),
		})
	}
}

func (d *drawer) replica() int { return d.IntN(len(d.plan.replicas)) }

func (d *drawer) soon() time.Duration {
	return sim.Pick(d.Rand, d.Between(0, time.Millisecond), d.Between(0, 30*time.Millisecond),
		d.Between(0, time.Second))
}

// drawLimit draws how long a client waits.
func (d *drawer) drawLimit() time.Duration {
	return time.Millisecond + sim.Pick(d.Rand, d.Between(0, 20*time.Millisecond), d.Between(0, time.Second),
		d.Between(0, 10*time.Second), 20*time.Second+d.Between(0, time.Second))
}

func (d *drawer) drawMood() mood {
	m := mood{
		target: d.IntN(len(d.plan.targets)), share: sim.Pick(d.Rand, 0.1, 0.5, 0.9, 1, 1),
		ill: sim.Pick(d.Rand, fails, fails, silent, silent, hangs, panics, exits, refuses, works, slow, forgets,
			babbling),
	}
	m.from = d.Between(0, d.plan.length)
	m.to = m.from +
		sim.Pick(d.Rand, d.Between(0, time.Second), d.Between(0, d.plan.length/2), d.Between(0, d.plan.length))
	return m
}
