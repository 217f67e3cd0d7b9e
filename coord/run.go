package coord

import (
	"context"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/plan"
)

// keepInMemory is how long a transaction with nothing to do stays with its driver.
// One that waits longer goes back to the store, where waiting costs nothing.
const keepInMemory = 500 * time.Millisecond

// saveProgress is how old unsaved progress may become. A quick transaction is
// written twice in its life; a slow one now and then, so that little is repeated
// after a crash.
const saveProgress = 250 * time.Millisecond

// evictPause is how long nobody claims a transaction that was handed over to an
// intervention, which is about to take it over itself.
const evictPause = time.Second

// run drives one transaction: plan, call, enter the answers, write, again. All its
// fields belong to the goroutine of loop, except those that say otherwise.
type run struct {
	c   *Coordinator
	tx  *txn.Transaction
	rec *driver.Record // as the store has it

	flights []*flight
	answers chan answer
	phase   context.Context //nolint:containedctx // of calls made since the last decision
	halt    context.CancelFunc
	timer   *time.Timer
	written time.Time // store's clock
	dirty   bool

	fetched string // the target it was claimed for, if it was
	blamed  blame  // the target that holds the transaction up, if one does

	begun   chan struct{} // closed when the record is written, or will never be
	gone    chan struct{} // closed when the run is over
	leaving chan struct{} // closed when the run is to hand over
	once    sync.Once     // closes leaving; any goroutine
}

// next is what the loop does after a turn.
type next int

const (
	goOn  next = iota // plan again
	await             // something is under way or due
	over              // the transaction is no longer ours
)

func newRun(c *Coordinator, t *txn.Transaction, rec *driver.Record) *run {
	return &run{
		c: c, tx: t, rec: rec, written: rec.Updated,
		begun: make(chan struct{}), gone: make(chan struct{}), leaving: make(chan struct{}),
	}
}

// start begins to drive a record that is in the store.
func (r *run) start() {
	close(r.begun)
	go r.loop()
}

// drop gives up a run that was never started. Who waits for it finds its place free.
func (r *run) drop() {
	r.c.active.remove(r.tx.ID)
	close(r.begun)
	close(r.gone)
}

// leave asks the run to hand the transaction over.
func (r *run) leave() { r.once.Do(func() { close(r.leaving) }) }

// loop drives the transaction until it is final, handed over or lost.
func (r *run) loop() {
	r.answers = make(chan answer)
	r.phase, r.halt = context.WithCancel(r.c.calls)
	r.timer = time.NewTimer(saveProgress) // set anew before each wait
	defer r.end()
	for {
		after := r.turn()
		if after == over || after == await && !r.wait() {
			return
		}
	}
}

// end makes room for another transaction.
func (r *run) end() {
	r.halt()
	r.strand()
	r.timer.Stop()
	close(r.gone)
	full := r.c.active.room() == 0
	r.c.active.remove(r.tx.ID)
	if full {
		r.c.Nudge() // claims may have stopped for want of room
	}
}

// turn plans and does what the plan says.
func (r *run) turn() next {
	now := r.c.clock.now()
	p := r.c.plan(r.tx, now)
	switch {
	case p.Decide != "":
		return r.decide(p, now)
	case p.Park != "":
		return r.park(p.Park)
	case len(p.Run) > 0:
		return r.call(p.Run, now)
	case len(r.flights) == 0 && !p.Next.IsZero() && p.Next.Sub(now) <= 0:
		return goOn
	case len(r.flights) == 0 && (p.Next.IsZero() || p.Next.Sub(now) > keepInMemory):
		r.handOver(p.Next)
		return over
	default:
		r.tx.Due = p.Next
		return await
	}
}

// decide makes a decision durable before anything follows from it. Calls that
// belong to the time before are broken off.
func (r *run) decide(p txn.Plan, now time.Time) next {
	if p.Decide.Final() && len(r.flights) > 0 {
		return r.awaitCalls()
	}
	r.halt()
	settle(r.tx, p, now)
	if !r.save(false) {
		return over
	}
	r.c.decided(r.tx)
	if r.tx.Status.Final() {
		return over
	}
	r.phase, r.halt = context.WithCancel(r.c.calls)
	return goOn
}

// settle enters a decision. What was parked before it goes on: the decision is what it
// was waiting for.
func settle(t *txn.Transaction, p txn.Plan, now time.Time) {
	if !t.Status.Decided() {
		t.Decided = now
	}
	t.Status, t.Waits, t.Parked = p.Decide, "", ""
	if p.Reason != "" {
		t.Reason = p.Reason
	}
	if p.Decide.Final() {
		t.Finished, t.Due = now, time.Time{}
	}
}

// park leaves the transaction to a person, once nothing is under way.
func (r *run) park(why string) next {
	if len(r.flights) > 0 {
		return r.awaitCalls()
	}
	r.tx.Parked, r.tx.Due = why, time.Time{}
	if r.save(true) {
		r.c.parked(r.tx)
	}
	return over
}

// awaitCalls waits for calls under way and for nothing else: what is due meanwhile is
// not done any more.
func (r *run) awaitCalls() next {
	r.tx.Due = time.Time{}
	return await
}

// call starts the steps of a plan. Old progress is written first, so that a crash
// during a long call does not repeat everything before it.
func (r *run) call(steps []txn.Step, now time.Time) next {
	if r.dirty && now.Sub(r.written) > saveProgress && !r.save(false) {
		return over
	}
	if r.c.life.Err() != nil {
		return await // who is about to hand over begins nothing
	}
	for _, s := range steps {
		r.fly(s)
	}
	return goOn
}

// wait returns when something has happened; false when the run is over.
func (r *run) wait() bool {
	if r.arrived() {
		return true
	}
	if r.asked() {
		return false
	}
	r.timer.Reset(r.nap())
	select {
	case a := <-r.answers:
		r.enter(a)
		return true
	case <-r.timer.C:
		r.ground()
		return r.keepLease()
	case <-r.leaving:
		r.depart(evictPause)
	case <-r.c.life.Done():
		r.depart(0)
	}
	return false
}

// arrived enters an answer that came while the run was busy with the store. It goes
// before everything else that has come since: it is not late because of that.
func (r *run) arrived() bool {
	select {
	case a := <-r.answers:
		r.enter(a)
		return true
	default:
		return false
	}
}

// asked hands the transaction over if that was asked for while the run was busy.
func (r *run) asked() bool {
	if r.c.life.Err() != nil {
		r.depart(0)
		return true
	}
	select {
	case <-r.leaving:
		r.depart(evictPause)
		return true
	default:
		return false
	}
}

// nap is the time until the plan, a call or the lease wants attention.
func (r *run) nap() time.Duration {
	now := r.c.clock.now()
	until := r.rec.Due.Add(-r.c.opts.Lease / 2)
	if due := r.tx.Due; !due.IsZero() && due.Before(until) {
		until = due
	}
	for _, f := range r.flights {
		if end := f.end(now); end.Before(until) {
			until = end
		}
	}
	return max(until.Sub(now), 0)
}

// enter puts an answer into the transaction.
func (r *run) enter(a answer) {
	if !r.land(a.flight) {
		return // given up before
	}
	r.apply(a)
}

func (r *run) apply(a answer) {
	now := r.c.clock.now()
	r.c.bound(r.tx, &a.Answer)
	if a.attempt.Op != "" {
		note(r.tx, a.attempt)
	}
	told := r.tx.Op(a.flight.step).Lasting > 0 // and stays so while nobody can be asked
	plan.Apply(r.tx, a.flight.step, a.Answer, now)
	if !told {
		r.warn(a.flight)
	}
	r.search(a.flight)
	r.blamed.enter(a)
	r.dirty = true
}

// warn tells at once of an answer that asking again does not change.
func (r *run) warn(f *flight) {
	if op := r.tx.Op(f.step); op.Lasting == 1 {
		r.c.opts.Logger.Warn("participant gives an answer that asking again does not change", "id", r.tx.ID,
			"branch", f.call.Branch, "op", f.call.Op, "target", f.target, "answer", op.Note)
	}
}

// longSearch is how many coordinators in a row without the function, or the same one
// again, it takes until people are told: about a quarter of a minute.
const longSearch = 5

// search tells after a while that nobody is found who could make a call.
func (r *run) search(f *flight) {
	if op := r.tx.Op(f.step); op.Lacking == longSearch {
		r.c.opts.Logger.Warn("no coordinator is found that can call a participant", "id", r.tx.ID,
			"branch", f.call.Branch, "op", f.call.Op, "target", f.target, "answer", op.Note)
	}
}

// keepLease renews the lease when half of it is over.
func (r *run) keepLease() bool {
	if r.rec.Due.Sub(r.c.clock.now()) > r.c.opts.Lease/2 {
		return true
	}
	return r.save(false)
}

// handOver puts the transaction back until something is due. A zero time has
// nothing to wait for and is looked at again after a while, to be safe.
func (r *run) handOver(due time.Time) {
	if due.IsZero() {
		due = r.c.clock.now().Add(holdBack)
	}
	r.tx.Due = due
	r.tx.Waits = r.blamed.waits(r.fetched)
	if r.save(true) && r.tx.Waits != "" && r.blamed.over() {
		// It has recovered while this was being written, too early for the drain to see.
		r.c.drains.add(r.tx.Waits)
	}
}

// depart breaks off all calls, and hands over what is known, to be claimed after a
// pause.
func (r *run) depart(pause time.Duration) {
	r.halt()
	patience := time.NewTimer(grace)
	defer patience.Stop()
	for len(r.flights) > 0 {
		select {
		case a := <-r.answers:
			r.enter(a)
		case <-patience.C:
			r.groundAll()
		}
	}
	r.tx.Due = r.c.clock.now().Add(pause)
	r.save(true)
}

// nextLook is when a transaction that nobody drives is looked at again: when its
// plan says so, or at once if something is to be done already.
func (c *Coordinator) nextLook(t *txn.Transaction, now time.Time) time.Time {
	if next := c.plan(t, now).Next; !next.IsZero() {
		return next
	}
	return now
}

// plan asks the transaction's mode.
func (c *Coordinator) plan(t *txn.Transaction, now time.Time) txn.Plan {
	return c.modes[t.Mode].Plan(t, now)
}
