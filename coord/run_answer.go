package coord

import (
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/plan"
)

// answer is how a flight ended.
type answer struct {
	txn.Answer
	flight  *flight
	attempt txn.Attempt // zero if nobody was asked
	// recoveries is how often the target had recovered by then.
	recoveries int
}

// enterAnswer puts an answer into the transaction.
func (r *run) enterAnswer(a answer) {
	if !r.removeFlight(a.flight) {
		return // given up before
	}
	r.applyAnswer(a)
}

func (r *run) applyAnswer(a answer) {
	now := r.c.clock.now()
	r.c.boundAnswer(r.tx, &a.Answer)
	if a.attempt.Op != "" {
		addAttempt(r.tx, a.attempt)
	}
	warned := r.tx.Op(a.flight.step).Lasting > 0 // a held call leaves it as it is
	plan.Apply(r.tx, a.flight.step, a.Answer, now)
	if !warned {
		r.warnLasting(a.flight)
	}
	r.warnLacking(a.flight)
	r.blamed.addAnswer(a)
	r.dirty = true
}

// warnLasting warns at once of an answer that asking again does not change.
func (r *run) warnLasting(f *flight) {
	if op := r.tx.Op(f.step); op.Lasting == 1 {
		r.c.opts.Logger.Warn("participant gives an answer that asking again does not change", "id", r.tx.ID,
			"branch", f.call.Branch, "op", f.call.Op, "target", f.target, "answer", op.Note)
	}
}

// longSearch is after how many tries in a row, here or elsewhere, without a way to make a
// call people are told: about a quarter of a minute.
const longSearch = 5

// warnLacking warns, after a while, that no coordinator is found that could make a call.
func (r *run) warnLacking(f *flight) {
	if op := r.tx.Op(f.step); op.Lacking == longSearch {
		r.c.opts.Logger.Warn("no coordinator is found that can call a participant", "id", r.tx.ID,
			"branch", f.call.Branch, "op", f.call.Op, "target", f.target, "answer", op.Note)
	}
}
