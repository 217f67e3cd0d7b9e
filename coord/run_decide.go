package coord

import (
	"context"
	"time"

	"github.com/bedrock-go/bedrock/txn"
)

// carryOutDecision makes a decision durable before anything follows from it. Calls that
// belong to the time before are broken off.
func (r *run) carryOutDecision(p txn.Plan, now time.Time) afterPlan {
	if p.Decide.Final() && len(r.flights) > 0 {
		return r.awaitCalls()
	}
	r.blamed = blame{} // what comes now calls others
	r.halt()
	enterDecision(r.tx, p, now)
	if !r.save(false) {
		return thenEnd
	}
	r.c.tellDecision(r.tx)
	if r.tx.Status.Final() {
		return thenEnd
	}
	r.phase, r.halt = context.WithCancel(r.c.calls)
	return planAgain
}

// enterDecision enters a decision. A transaction that was parked goes on: the decision is
// what it was waiting for.
func enterDecision(t *txn.Transaction, p txn.Plan, now time.Time) {
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

// parkRun leaves the transaction to a person, once nothing is under way.
func (r *run) parkRun(why string) afterPlan {
	if len(r.flights) > 0 {
		return r.awaitCalls()
	}
	r.tx.Parked, r.tx.Due = why, time.Time{}
	if r.save(true) {
		r.c.tellParked(r.tx)
	}
	return thenEnd
}

// tellDecision tells of a decision, and of a final one those who wait for it.
func (c *Coordinator) tellDecision(t *txn.Transaction) {
	e := Event{Kind: EventDecided, ID: t.ID, Mode: t.Mode, Name: t.Name, Status: t.Status, Reason: t.Reason}
	if t.Status.Final() {
		e.Kind, e.Took = EventFinished, t.Finished.Sub(t.Created)
		c.news.tellFinal(t)
	}
	c.observe(e)
}

// tellParked tells that a transaction needs a person.
func (c *Coordinator) tellParked(t *txn.Transaction) {
	c.opts.Logger.Warn("transaction is parked", "id", t.ID, "name", t.Name, "reason", t.Parked)
	c.observeParked(t)
}

func (c *Coordinator) observeParked(t *txn.Transaction) {
	c.observe(Event{Kind: EventParked, ID: t.ID, Mode: t.Mode, Name: t.Name, Status: t.Status, Reason: t.Parked})
	c.news.tellFinal(t)
}
