package txns

import (
	"time"

	"github.com/bedrock-go/bedrock/internal/torture/audit"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/plan"
)

const (
	// spareCalls are early calls of one operation that no fault has to explain: when its
	// target is there again everything that waited for it goes on at once.
	spareCalls = 3
	// rounding is by how much clocks and the network may shorten a pause.
	rounding = 20 * time.Millisecond
)

// ladders: an operation that fails is called again after its pauses, not sooner, and no
// call is made that a later one has overtaken.
func (p *past) ladders(r *audit.Report) {
	for op, calls := range p.calls {
		s := p.stories[op.id]
		if s == nil || op.op == "check" {
			continue
		}
		early, overtaken := p.climb(s, calls)
		if early > spareCalls+p.outages(calls)+2*len(s.acts) {
			r.Violate("ladder", p.since(calls[0].from),
				"%s: %s of %s was called %d times, %d of them before its pause was over",
				op.id, op.op, op.name, len(calls), early)
		}
		if overtaken > 0 && p.excused(calls[0].from, calls[len(calls)-1].to) == "" {
			r.Violate("ladder", p.since(calls[0].from), "%s: %s of %s: %d calls were made after a later attempt", op.id,
				op.op, op.name, overtaken)
		}
	}
}

// climb counts the calls of one operation that came too early, and those that came after
// a later attempt by the same coordinator.
func (p *past) climb(s *story, calls []call) (early, overtaken int) {
	tr := transfer{Fate: s.fate}
	var before *call
	for i := range calls {
		c := &calls[i]
		if c.again {
			continue
		}
		if before != nil && c.epoch == before.epoch {
			switch {
			case c.attempt < before.attempt:
				overtaken++
			case before.answer == answerFailed && c.from-before.to < leastPause(tr.policy(), before.attempt):
				early++
			}
		}
		before = c
	}
	return early, overtaken
}

// leastPause is the least pause after an attempt.
func leastPause(policy txn.Policy, attempt int) time.Duration {
	return plan.Pause(policy, attempt, 0)*3/4 - rounding
}

// outages is how often a target may have come back while it was being called.
func (p *past) outages(calls []call) int {
	n := 0
	for i := range p.windows {
		if p.windows[i].Meets(calls[0].from, calls[len(calls)-1].to, recovery) {
			n++
		}
	}
	return n
}
