package coordtest

import (
	"errors"
	"strings"

	"github.com/bedrock-go/bedrock/bedrocktest"
)

var (
	errInjected = errors.New("injected: the store does not answer")
	errDead     = errors.New("this coordinator is dead")
)

// brokenStore is the store as the first coordinator sees it.
func (r *oneRun) brokenStore() *bedrocktest.Store {
	s := bedrocktest.NewStore(r.witness)
	for p, f := range r.faults {
		if !p.isCall() {
			s.FailCall(bedrocktest.Method(p.Kind), p.N, r.storeFault(p, f))
		}
	}
	r.inject.onDeath = func() { s.FailAll(bedrocktest.Fault{Before: errDead}) }
	return s
}

// storeFault is a fault in the words of the store that suffers it.
func (r *oneRun) storeFault(p Point, f Fault) bedrocktest.Fault {
	fault := bedrocktest.Fault{Hit: func() { r.inject.addHit(p, f) }}
	switch f {
	case FailBefore:
		fault.Before = errInjected
	case FailAfter:
		fault.After = errInjected
	case DieBefore, DieAfter:
		fault.Hit = func() {
			r.inject.addHit(p, f)
			r.inject.die()
		}
		if f == DieBefore {
			fault.Before = errDead
		} else {
			fault.After = errDead
		}
	case Stall:
		fault.Delay = r.stall()
	case Twice: // only of participants
	}
	return fault
}

// isCall reports whether the point is a call of a participant.
func (p Point) isCall() bool { return strings.HasPrefix(p.Kind, "call ") }

// counts is how often each kind of call was made by the first coordinator.
func (r *oneRun) counts() map[string]int {
	counts := r.inject.counts()
	for _, m := range storeMethods() {
		if n := r.broken.Calls(bedrocktest.Method(m)); n > 0 {
			counts[m] = n
		}
	}
	return counts
}
