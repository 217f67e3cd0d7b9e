package coord

import (
	"time"

	"github.com/bedrock-go/bedrock/txn"
)

// keepInMemory is how long a transaction with nothing to do stays with its driver.
// One that waits longer goes back to the store, where waiting costs nothing.
const keepInMemory = 500 * time.Millisecond

// afterPlan is what the loop does after it has carried out a plan.
type afterPlan int

const (
	planAgain afterPlan = iota // plan again
	thenWait                   // something is under way or due
	thenEnd                    // the transaction is no longer ours
)

// carryOutPlan plans and does what the plan says.
func (r *run) carryOutPlan() afterPlan {
	now := r.c.clock.now()
	p := r.c.planNext(r.tx, now)
	switch {
	case p.Decide != "":
		return r.carryOutDecision(p, now)
	case p.Park != "":
		return r.parkRun(p.Park)
	case len(p.Run) > 0:
		return r.startCalls(p.Run, now)
	case len(r.flights) == 0 && !p.Next.IsZero() && p.Next.Sub(now) <= 0:
		return planAgain
	case len(r.flights) == 0 && (p.Next.IsZero() || p.Next.Sub(now) > keepInMemory):
		r.handOver(p.Next)
		return thenEnd
	default:
		r.tx.Due = p.Next
		return thenWait
	}
}

// awaitCalls waits for calls under way and for nothing else: what is due meanwhile is
// not done any more.
func (r *run) awaitCalls() afterPlan {
	r.tx.Due = time.Time{}
	return thenWait
}

// startCalls starts the steps of a plan. Old progress is written first, so that a crash
// during a long call does not repeat everything before it.
func (r *run) startCalls(steps []txn.Step, now time.Time) afterPlan {
	if r.dirty && now.Sub(r.written) > saveProgress && !r.save(false) {
		return thenEnd
	}
	if r.c.life.Err() != nil {
		return thenWait // a run that is about to hand over begins nothing
	}
	for _, s := range steps {
		r.startCall(s)
	}
	return planAgain
}

// nextDue is when a transaction that nobody drives is looked at again: when its
// plan says so, or at once if something is to be done already.
func (c *Coordinator) nextDue(t *txn.Transaction, now time.Time) time.Time {
	if next := c.planNext(t, now).Next; !next.IsZero() {
		return next
	}
	return now
}

// planNext asks the transaction's mode.
func (c *Coordinator) planNext(t *txn.Transaction, now time.Time) txn.Plan {
	return c.modes[t.Mode].Plan(t, now)
}
