package coord

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/plan"
)

// grace is how much longer than its time-out a call may take before its driver
// stops waiting. Only a function that ignores its context needs it.
const grace = time.Second

// flight is a call under way, or one that waits for its slot.
type flight struct {
	step   txn.Step
	target txn.Target
	call   txn.Call
	life   time.Time // when the transaction was created
	lane   *lane     // nil when there is nothing to call
	limit  time.Duration

	// began is when the participant was called, in µs of the store's clock; 0 before.
	// Waiting for a slot is nobody's failure: the call's time runs from here.
	began   atomic.Int64
	lacking error    // why it cannot be made here
	stand   standing // the breaker's when it was about to be made
	pass    pass     // the breaker's leave
	slots   bool     // a probe has none: all may be taken by calls that hang
	// over is set by whoever tells the lane how it went: the call when it ends, or a
	// driver that does not wait for its end.
	over atomic.Bool
}

// end is when the driver stops waiting. What has not begun ends no sooner than if it
// began now.
func (f *flight) end(now time.Time) time.Time {
	if began := f.began.Load(); began != 0 {
		now = fromMicro(began)
	}
	return now.Add(f.limit + grace)
}

// end gives the slots of a flight back and tells its breaker how it went, once.
func (ls *lanes) end(f *flight, v verdict) {
	if !f.over.CompareAndSwap(false, true) {
		return
	}
	if f.slots {
		f.lane.leave()
	}
	ls.report(f.lane, f.pass, v)
}

// answer is how a flight ended.
type answer struct {
	plan.Answer
	flight  *flight
	attempt txn.Attempt // zero if nobody was asked
	// recoveries is how often the target had recovered by then.
	recoveries int
}

// fly starts a call.
func (r *run) fly(s txn.Step) {
	f := &flight{step: s, target: r.tx.Target(s), life: r.tx.Created, limit: plan.Timeout(r.tx.Policy(s))}
	r.tx.Op(s).InFlight = true
	r.flights = append(r.flights, f)
	if f.target == "" {
		r.land(f)
		r.apply(answer{flight: f, Answer: plan.Answer{Kind: plan.Done}})
		return
	}
	call, err := r.describe(s)
	if err != nil {
		r.land(f)
		r.apply(answer{flight: f, Answer: plan.Answer{Kind: plan.Refused, Unasked: true, Note: err.Error()}})
		return
	}
	f.call, f.lane = call, r.c.lanes.get(f.target)
	r.c.approach(f)
	r.c.calling.Add(1)
	go r.perform(r.phase, f)
}

// describe says what a participant is asked.
func (r *run) describe(s txn.Step) (txn.Call, error) {
	t := r.tx
	call := txn.Call{
		Transaction: t.ID, Op: r.operation(s), Mode: t.Mode,
		Attempt: t.Op(s).Calls + 1, Epoch: t.Epoch, Headers: t.Headers, Payload: t.Payload,
	}
	if !t.Status.Decided() {
		call.Deadline = t.Deadline
	}
	if s.Phase == txn.PhaseCheck {
		return call, nil
	}
	call.Branch = t.Branches[s.Branch].ID
	if s.Phase != txn.PhaseDo {
		call.Result = t.Progress[s.Branch].Do.Result
	}
	payload, err := payload(t, s, r.c.opts.Results)
	call.Payload = payload
	return call, err
}

// operation names a step. A hook is told what it is asked about: hook:action.
func (r *run) operation(s txn.Step) string {
	mode := r.c.modes[r.tx.Mode]
	if s.Phase != txn.PhaseHook {
		return mode.Op(s.Phase)
	}
	p := &r.tx.Progress[s.Branch]
	for _, phase := range []txn.Phase{txn.PhaseUndo, txn.PhaseConfirm} {
		if p.Op(phase).Spent {
			return hookPrefix + mode.Op(phase)
		}
	}
	return hookPrefix + mode.Op(txn.PhaseDo)
}

// perform makes the call and brings back the answer, even of a function that ends its
// goroutine and returns nothing.
func (r *run) perform(ctx context.Context, f *flight) {
	defer r.c.calling.Done()
	a := answer{flight: f, Answer: plan.Answer{Kind: plan.Failed, Note: "ended without an answer"}}
	defer func() {
		select {
		case r.answers <- a:
		case <-r.gone:
		}
	}()
	r.c.ask(ctx, f, &a)
}

// land takes a flight off the list; false when it is not there any more.
func (r *run) land(f *flight) bool {
	i := slices.Index(r.flights, f)
	if i < 0 {
		return false
	}
	r.flights = slices.Delete(r.flights, i, i+1)
	return true
}

// ground stops waiting for calls that should have ended. Others get their slots: a
// function that minds no context may never give them back.
func (r *run) ground() {
	now := r.c.clock.now()
	for _, f := range slices.Clone(r.flights) {
		if !f.end(now).After(now) {
			r.lose(f, down, plan.Answer{Kind: plan.Failed, Down: true, Note: fmt.Sprintf("no answer and no end after %v", f.limit)})
		}
	}
}

// groundAll stops waiting for calls that do not end although they were broken off.
func (r *run) groundAll() {
	for _, f := range slices.Clone(r.flights) {
		r.lose(f, nothing, brokenOff())
	}
}

// strand leaves calls to themselves that were broken off because the transaction is
// somebody else's now. One that does not end for that keeps its slot no longer.
func (r *run) strand() {
	for _, f := range r.flights {
		time.AfterFunc(grace, func() {
			if f.began.Load() != 0 {
				r.c.lanes.end(f, nothing)
			}
		})
	}
}

// lose gives a call up. One that still waits for its slot has been told to leave the
// queue, and is not made any more.
func (r *run) lose(f *flight, v verdict, a plan.Answer) {
	r.land(f)
	if f.began.Load() == 0 {
		r.apply(answer{flight: f, Answer: notCalled()})
		return
	}
	r.c.lanes.end(f, v)
	r.apply(answer{flight: f, Answer: a, attempt: r.c.attempt(f, a), recoveries: f.lane.breaker.recovered()})
}
