package coord

import (
	"fmt"
	"slices"
	"time"

	"github.com/bedrock-go/bedrock/coord/internal/lanes"
	"github.com/bedrock-go/bedrock/txn"
)

// removeFlight takes a flight off the list. It reports whether it was still there.
func (r *run) removeFlight(f *flight) bool {
	i := slices.Index(r.flights, f)
	if i < 0 {
		return false
	}
	r.flights = slices.Delete(r.flights, i, i+1)
	return true
}

// giveUpLate stops waiting for calls that should have ended. Others get their slots: a
// function that ignores its context may never give them back.
func (r *run) giveUpLate() {
	now := r.c.clock.now()
	for _, f := range slices.Clone(r.flights) {
		if !f.deadline(now).After(now) {
			r.giveUp(f, lanes.Down, txn.Answer{
				Kind: txn.AnswerFailed, Down: true, Note: fmt.Sprintf("no answer and no end after %v", f.limit),
			})
		}
	}
}

// giveUpAll stops waiting for calls that do not end although they were broken off.
func (r *run) giveUpAll() {
	for _, f := range slices.Clone(r.flights) {
		r.giveUp(f, lanes.Nothing, brokenOffAnswer())
	}
}

// abandonCalls gives up the calls of a transaction that is somebody else's now. They were
// broken off; one that does not end for that loses its slot after a while.
func (r *run) abandonCalls() {
	for _, f := range r.flights {
		time.AfterFunc(grace, func() {
			if f.began.Load() != 0 {
				r.c.endFlight(f, lanes.Nothing)
			}
		})
	}
}

// giveUp gives a call up. One that still waits for its slot has been told to leave the
// queue, and is not made any more.
func (r *run) giveUp(f *flight, found lanes.Finding, a txn.Answer) {
	r.removeFlight(f)
	if f.began.Load() == 0 {
		r.applyAnswer(answer{flight: f, Answer: notCalledAnswer()})
		return
	}
	r.c.endFlight(f, found)
	r.applyAnswer(answer{flight: f, Answer: a, attempt: r.c.attempt(f, a), recoveries: f.lane.Recoveries()})
}
