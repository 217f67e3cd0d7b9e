package coord

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/plan"
)

// grace is how much longer than its time-out a call may take before its driver
// stops waiting. Only a function that ignores its context needs it.
const grace = time.Second

// flight is a call under way. It does not change once it has started.
type flight struct {
	step   txn.Step
	target txn.Target
	call   txn.Call
	lane   *lane // nil when there is nothing to call
	began  time.Time
	limit  time.Duration
	end    time.Time // when the driver stops waiting, by the store's clock
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
func (r *run) fly(s txn.Step, now time.Time) {
	op := r.tx.Op(s)
	limit := plan.Timeout(r.tx.Policy(s))
	f := &flight{step: s, target: r.tx.Target(s), began: now, limit: limit, end: now.Add(limit + grace)}
	op.InFlight = true
	r.flights = append(r.flights, f)
	if f.target == "" {
		r.land(f)
		r.apply(answer{flight: f, Answer: plan.Answer{Kind: plan.Done}})
		return
	}
	call, err := r.describe(s)
	if err != nil {
		r.land(f)
		r.apply(answer{flight: f, Answer: plan.Answer{Kind: plan.Refused, Note: err.Error()}})
		return
	}
	f.call, f.lane = call, r.c.lanes.get(f.target)
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
	payload, err := payload(t, s)
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
			return "hook:" + mode.Op(phase)
		}
	}
	return "hook:" + mode.Op(txn.PhaseDo)
}

// perform makes the call and brings back the answer.
func (r *run) perform(ctx context.Context, f *flight) {
	a := r.c.ask(ctx, f)
	select {
	case r.answers <- a:
	case <-r.gone:
	}
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

// ground stops waiting for calls that should have ended.
func (r *run) ground() {
	now := r.c.clock.now()
	for _, f := range slices.Clone(r.flights) {
		if !f.end.After(now) {
			r.lose(f, plan.Answer{Kind: plan.Failed, Down: true, Note: fmt.Sprintf("no answer and no end after %v", f.limit)})
		}
	}
}

// groundAll stops waiting for calls that do not end although they were broken off.
func (r *run) groundAll() {
	for _, f := range slices.Clone(r.flights) {
		r.lose(f, brokenOff())
	}
}

func (r *run) lose(f *flight, a plan.Answer) {
	r.land(f)
	r.apply(answer{flight: f, Answer: a, attempt: r.c.attempt(f, f.began, a)})
}

// brokenOff is the answer of a call that the coordinator itself has ended. It is
// nobody's failure, so it uses up no attempt.
func brokenOff() plan.Answer {
	return plan.Answer{Kind: plan.Pending, After: time.Millisecond, Note: "broken off"}
}

// ask makes one call: when there is a slot, if the breaker lets it, in its time.
func (c *Coordinator) ask(ctx context.Context, f *flight) answer {
	recoveries := f.lane.breaker.recovered()
	if f.lane.breaker.blocked(time.Now()) {
		return answer{flight: f, Answer: held(), recoveries: recoveries}
	}
	if err := f.lane.enter(ctx); err != nil {
		return answer{flight: f, Answer: brokenOff()}
	}
	defer f.lane.leave()
	recoveries = f.lane.breaker.recovered()
	if !f.lane.breaker.allow(time.Now()) {
		return answer{flight: f, Answer: held(), recoveries: recoveries}
	}
	return c.callOnce(ctx, f)
}

func held() plan.Answer {
	return plan.Answer{Kind: plan.Held, After: holdBack, Down: true, Note: "target is down"}
}

func (c *Coordinator) callOnce(ctx context.Context, f *flight) answer {
	began, call := c.clock.now(), f.call
	limited, cancel := context.WithTimeout(ctx, f.limit)
	defer cancel()
	var end func(plan.Answer)
	call.Headers, end = c.opts.Tracing.Call(limited, &call, f.target)
	a := c.dispatch(limited, f.target, call)
	switch {
	case ctx.Err() != nil && a.Kind != plan.Done && a.Kind != plan.Refused:
		f.lane.breaker.abandon()
		a = brokenOff()
	default:
		c.lanes.report(f.lane, judge(a))
	}
	c.trim(&a)
	end(a)
	attempt := c.attempt(f, began, a)
	c.opts.Observer.Observe(Event{
		Kind: Called, ID: f.call.Transaction, Mode: f.call.Mode, Branch: f.call.Branch, Op: f.call.Op,
		Target: txn.Target(f.lane.name), Answer: a.Kind, Took: attempt.Took, Reason: a.Note,
	})
	return answer{flight: f, Answer: a, attempt: attempt, recoveries: f.lane.breaker.recovered()}
}

// judge is what an answer says about the target as a whole.
func judge(a plan.Answer) verdict {
	switch {
	case a.Down:
		return down
	case a.Kind == plan.Failed || a.Kind == plan.Unreached:
		return failing
	default:
		return well
	}
}

// dispatch finds who can make the call.
func (c *Coordinator) dispatch(ctx context.Context, target txn.Target, call txn.Call) plan.Answer {
	scheme, rest := plan.Scheme(target)
	switch scheme {
	case "":
		return c.function(ctx, rest, call)
	case "async":
		return c.assure(ctx, txn.Target(rest), call)
	}
	caller, ok := c.opts.Callers[scheme]
	if !ok {
		return plan.Answer{Kind: plan.Unreached, Down: true, Note: "this coordinator does not call " + scheme + " targets"}
	}
	return caller.Call(ctx, target, call)
}

// function calls a participant in this process.
func (c *Coordinator) function(ctx context.Context, name string, call txn.Call) (a plan.Answer) {
	f, ok := c.names.get(name)
	if !ok {
		return plan.Answer{Kind: plan.Unreached, Down: true, Note: "no function of this name is registered here"}
	}
	defer func() {
		if p := recover(); p != nil {
			c.opts.Logger.Error("participant panicked", "function", name, "panic", p, "stack", string(debug.Stack()))
			a = plan.Answer{Kind: plan.Failed, Note: fmt.Sprintf("panic: %v", p)}
		}
	}()
	result, err := f(ctx, call)
	return returned(ctx, result, err)
}

// returned translates what a function returned.
func returned(ctx context.Context, result []byte, err error) plan.Answer {
	pending, isPending := errors.AsType[*txn.PendingError](err)
	switch {
	case err == nil:
		return plan.Answer{Kind: plan.Done, Result: result}
	case txn.Aborted(err):
		return plan.Answer{Kind: plan.Refused, Note: err.Error()}
	case isPending:
		return plan.Answer{Kind: plan.Pending, After: pending.After, Note: err.Error()}
	default:
		return plan.Answer{Kind: plan.Failed, Down: ctx.Err() != nil, Note: err.Error()}
	}
}

// assure hands a call to a reliable message of its own. The part is done once that
// is durable, because it will arrive.
func (c *Coordinator) assure(ctx context.Context, to txn.Target, call txn.Call) plan.Answer {
	_, err := c.Submit(ctx, assured(to, call))
	if err != nil {
		return plan.Answer{Kind: plan.Failed, Note: err.Error()}
	}
	return plan.Answer{Kind: plan.Done}
}
