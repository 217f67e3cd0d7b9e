package locks

import (
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/internal/sim"
	"github.com/bedrock-go/bedrock/lock"
)

// drawPlan draws a plan.
func drawPlan(s sim.Seed) *plan {
	r := s.Named("locks").Rand()
	p := &plan{
		seed: s, length: r.Between(5*time.Second, 25*time.Second),
		patience: sim.Pick(r, 0, 0, time.Second, 10*time.Second),
	}
	d := drawer{Rand: r, plan: p, calm: r.Chance(0.5), kind: kind(r.IntN(int(kinds)))}
	p.names = sim.Pick(r, 1, 1, 2, 3, 10, 40, 1000)
	if d.competing() {
		p.names = 1
	} else if d.kind == homely {
		p.names = 3
	}
	p.handOff = lock.HandOff{
		Count: sim.Pick(r, 0, 0, 0, -1, 2, 3, 1<<16),
		Time:  sim.Pick(r, 0, 0, time.Millisecond, 100*time.Millisecond, time.Second),
	}
	p.real, p.passes = r.Chance(0.3), r.Chance(0.75)
	d.drawClients()
	d.drawLingers()
	d.drawOps()
	d.drawFaults()
	return p
}

// kind is a kind of work.
type kind int

const (
	busy     kind = iota // one name, wanted again at once
	keeping              // minimum hold times
	renewing             // held until about the first renewal, and some for long
	mixed
	unequal // one name, wanted again at once by a process that is near and one that is far
	homely  // each process has a name of its own, which it wants again soon, and others now and then
	kinds   // how many there are
)

// drawer draws the ops of a plan.
type drawer struct {
	*sim.Rand
	plan    *plan
	calm    bool // nothing is out of order
	ttls    []time.Duration
	kind    kind
	workers int
}

// drawClients draws who there is, and how far from the store.
func (d *drawer) drawClients() {
	n := d.Number(1, 3)
	if d.kind == busy || d.kind == homely {
		n = d.Number(2, 3)
	}
	if d.kind == unequal {
		d.drawUnequal()
		return
	}
	base := sim.Pick(d.Rand, 50*time.Microsecond, time.Millisecond, 5*time.Millisecond, 10*time.Millisecond)
	for range n {
		near := base
		if d.Chance(0.5) {
			near += sim.Pick(d.Rand, time.Millisecond, 3*time.Millisecond, 20*time.Millisecond)
		}
		c := site{
			near: near, far: near + near/4, shards: sim.Pick(d.Rand, 1, 1, 2, 3),
			workers: sim.Pick(d.Rand, 1, 1, 2, 4, 8, 12),
		}
		if d.kind == homely {
			c.workers = d.Number(1, 2)
		}
		c.leaves, c.old = d.Chance(0.7), d.Chance(0.2)
		d.workers += c.workers
		d.plan.clients = append(d.plan.clients, c)
	}
}

// drawLingers draws whose locks linger: those of some clients of some runs.
func (d *drawer) drawLingers() {
	some := d.plan.seed.Named("linger").Rand()
	if d.kind == homely || d.plan.passes && some.Chance(0.2) {
		d.plan.passes = true
		for i := range d.plan.clients {
			d.plan.clients[i].linger = sim.Pick(some, 0, time.Millisecond, 5*time.Millisecond, 100*time.Millisecond)
		}
	}
}

// drawUnequal draws one process beside the store, and one further away.
func (d *drawer) drawUnequal() {
	near := 50 * time.Microsecond
	far := near + sim.Pick(d.Rand, time.Millisecond, 5*time.Millisecond, 20*time.Millisecond)
	d.plan.clients = []site{
		{near: near, far: near + near/4, shards: 1, workers: sim.Pick(d.Rand, 1, 1, 8)},
		{near: far, far: far + far/4, shards: 1, workers: sim.Pick(d.Rand, 1, 1, 8)},
	}
	d.plan.handOff = lock.HandOff{}
	d.calm = true
}

// competing reports whether all want one name, as often as they can.
func (d *drawer) competing() bool { return d.kind == busy || d.kind == unequal }

// roundTrip is the longest.
func (p *plan) roundTrip() time.Duration {
	var longest time.Duration
	for _, c := range p.clients {
		longest = max(longest, 2*c.far)
	}
	return longest
}

func (d *drawer) drawOps() {
	least := max(100*time.Millisecond, 20*d.plan.roundTrip())
	for range d.Number(1, 2) {
		d.ttls = append(d.ttls,
			sim.Pick(d.Rand, least, 2*least, 5*least, least+d.Between(0, 2*time.Second), least+20*time.Second))
	}
	for client, c := range d.plan.clients {
		for worker := range c.workers {
			d.drawWorker(client, worker)
		}
	}
}

// mostOps of a run, so that it is short in real time as well.
const mostOps = 600

// share is how many ops a worker has. Where clients compete they have the same number
// of them, few or many workers.
func (d *drawer) share(client int) int {
	if d.competing() {
		return mostOps / d.plan.clients[client].workers
	}
	return mostOps / d.workers
}

func (d *drawer) drawWorker(client, worker int) {
	var at time.Duration
	for n := 0; at < d.plan.length && n < d.share(client); n++ {
		o := d.drawOp()
		o.client, o.worker = client, worker
		if d.kind == homely && d.Chance(0.95) {
			o.name = fmt.Sprintf("n%d", client)
		}
		at += o.pause + o.hold + o.opts.MinHold + d.plan.roundTrip()
		d.plan.ops = append(d.plan.ops, o)
	}
}

func (d *drawer) drawOp() op {
	ttl := d.ttls[d.IntN(len(d.ttls))]
	ttl, long := min(ttl, 3*time.Second), ttl
	o := op{
		deed: locks, name: fmt.Sprintf("n%d", d.IntN(d.plan.names)), opts: lock.MutexOptions{TTL: long},
		pause: d.drawPause(ttl), hold: d.drawHold(ttl),
	}
	if d.kind == unequal {
		return o
	}
	if d.Chance(0.1) {
		o.deed = tries
	}
	if d.Chance(0.05) && !d.calm {
		o.deed = forces
	}
	if d.Chance(0.25) && (d.kind != busy || d.Chance(0.2)) {
		o.cancel = d.drawCancel(ttl)
	}
	if d.Chance(0.1) {
		o.opts.Wait = max(d.drawCancel(ttl), time.Millisecond)
	}
	if d.kind == keeping && d.Chance(0.3) {
		o.opts.MinHold = d.Between(time.Millisecond, ttl)
	}
	o.opts.Fixed = d.Chance(0.03)
	if d.Chance(0.1) {
		o.again = d.Number(1, 3)
	}
	if d.Chance(0.1) {
		o.hurry = d.Between(0, 2*d.plan.roundTrip())
	}
	return o
}

func (d *drawer) drawPause(ttl time.Duration) time.Duration {
	switch d.kind {
	case busy, unequal:
		return d.Between(0, 10*time.Microsecond)
	case keeping:
		return d.Between(0, ttl/4)
	case renewing:
		return d.Between(0, ttl/50)
	case homely:
		if d.Chance(0.05) {
			return d.Between(0, 200*time.Millisecond)
		}
		return d.Between(0, 3*time.Millisecond)
	default:
		return sim.Pick(d.Rand, d.Between(0, time.Millisecond), d.Between(0, ttl/10), d.Between(0, ttl))
	}
}

// drawHold draws how long a lock is held: most often about as long as things that
// happen to leases take.
func (d *drawer) drawHold(ttl time.Duration) time.Duration {
	switch d.kind {
	case busy:
		return d.Between(5*time.Millisecond, 40*time.Millisecond)
	case unequal:
		return d.Between(20*time.Millisecond, 40*time.Millisecond)
	case homely:
		if d.Chance(0.03) {
			return d.Between(0, ttl)
		}
		return d.Between(0, time.Millisecond)
	case renewing:
		if d.Chance(0.1) {
			return ttl + d.Between(0, 2*ttl)
		}
		return ttl*45/100 + d.Between(0, ttl*8/100)
	default:
		return sim.Pick(d.Rand,
			d.Between(0, time.Millisecond), d.Between(0, 20*time.Millisecond),
			ttl/2-ttl/20+d.Between(0, ttl/10), ttl-ttl/20+d.Between(0, ttl/10), ttl+d.Between(0, 2*ttl))
	}
}

// drawCancel draws when a wait is given up: about when something happens.
func (d *drawer) drawCancel(ttl time.Duration) time.Duration {
	trip := d.plan.roundTrip()
	return time.Microsecond + sim.Pick(d.Rand,
		d.Between(0, trip), d.Between(trip*9/10, trip*11/10), d.Between(0, 5*trip), d.Between(0, ttl),
		d.Between(0, 3*ttl))
}

func (d *drawer) drawFaults() {
	if d.calm {
		return
	}
	p := d.plan
	if d.Chance(0.2) { // nothing is lost, and some of it is late
		p.troubles = append(p.troubles, sim.Trouble{
			Ill: sim.Slow, Link: sim.Everybody, To: p.length, Share: sim.Pick(d.Rand, 0.02, 0.2),
		})
		return
	}
	for range d.Number(0, 4) {
		p.troubles = append(p.troubles, sim.DrawTrouble(d.Rand, len(p.clients), p.length))
	}
	if d.Chance(0.1) {
		p.steps = append(p.steps, step{at: d.Between(0, p.length), by: d.Between(-5*time.Second, 5*time.Second)})
	}
	p.lags.patience = 100 * time.Millisecond
	if d.Chance(0.2) {
		for range d.Number(1, 4) {
			d.drawLag()
		}
	}
}

// drawLag draws a time in which replicas are behind, often because all is slow: what is
// taken back then is taken back late, or twice.
func (d *drawer) drawLag() {
	from := d.Between(0, d.plan.length)
	lag := span{from, from + d.Between(0, time.Second)}
	d.plan.lags.spans = append(d.plan.lags.spans, lag)
	if d.Chance(0.7) {
		d.plan.troubles = append(d.plan.troubles, sim.Trouble{
			Ill: sim.Pick(d.Rand, sim.Slow, sim.Twice, sim.Mute), Link: sim.Everybody,
			From: lag.from, To: lag.to + time.Second, Share: sim.Pick(d.Rand, 0.3, 0.5),
		})
	}
}
