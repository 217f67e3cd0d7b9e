package coord

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/plan"
)

// approach looks how the way to a target stands. Calls that begin together do so one
// after another, so it is not chance that makes one of them the probe.
func (c *Coordinator) approach(f *flight) {
	if f.lacking = c.lacks(f.target); f.lacking != nil {
		return
	}
	f.stand = f.lane.breaker.stand(time.Now())
	if f.stand.open && !f.stand.blocked {
		f.stand.blocked = !f.admit()
	}
}

// admit gets the breaker's leave.
func (f *flight) admit() (ok bool) {
	f.pass, ok = f.lane.breaker.allow(time.Now(), f.limit+grace)
	return ok
}

// ask makes one call: when there is a slot, if the breaker lets it, in its time.
func (c *Coordinator) ask(ctx context.Context, f *flight, a *answer) {
	if f.lacking != nil {
		a.Answer = plan.Answer{Kind: plan.Held, Lacking: true, Note: f.lacking.Error()}
		return
	}
	a.recoveries = f.stand.recoveries
	switch err := f.board(ctx); {
	case err == nil && ctx.Err() == nil:
		c.callOnce(ctx, f, a)
	case errors.Is(err, errDown):
		a.Answer = held()
	default:
		c.lanes.end(f, nothing)
		a.Answer = notCalled()
	}
}

// board gets a slot, and the breaker's leave. A probe has that already, and goes without a
// slot, of which calls may hold all that will not end for long.
func (f *flight) board(ctx context.Context) error {
	switch {
	case f.stand.blocked:
		return errDown
	case f.stand.open:
		return nil
	}
	if err := f.lane.enter(ctx); err != nil {
		return err
	}
	if !f.admit() {
		f.lane.leave()
		return errDown
	}
	f.slots = true
	return nil
}

// callOnce makes the call and enters how it went, however it ends.
func (c *Coordinator) callOnce(ctx context.Context, f *flight, a *answer) {
	limited, cancel := context.WithTimeout(ctx, f.limit)
	defer cancel()
	call := f.call
	f.began.Store(c.clock.now().UnixMicro())
	var end func(plan.Answer)
	call.Headers, end = c.opts.Tracing.Call(limited, &call, f.target)
	defer func() {
		c.called(ctx, f, a)
		end(a.Answer)
	}()
	if ctx.Err() != nil {
		a.Answer = notCalled() // broken off meanwhile, perhaps by a decision
		return
	}
	a.Answer = c.dispatch(limited, f, call)
}

// called tells everybody how a call went.
func (c *Coordinator) called(ctx context.Context, f *flight, a *answer) {
	v := judge(a.Answer)
	if c.interrupted(ctx, a.Kind) {
		v, a.Answer = nothing, brokenOff()
	}
	c.lanes.end(f, v)
	c.trim(&a.Answer)
	a.attempt, a.recoveries = c.attempt(f, a.Answer), f.lane.breaker.recovered()
	c.opts.Observer.Observe(Event{
		Kind: Called, ID: f.call.Transaction, Mode: f.call.Mode, Branch: f.call.Branch, Op: f.call.Op,
		Target: txn.Target(f.lane.name), Answer: a.Kind, Took: a.attempt.Took, Reason: a.Note,
	})
}

// interrupted tells whether an answer came of the coordinator's own doing: the call
// was broken off, or made while it stops, when participants that use it fail, too.
// What is definite counts all the same.
func (c *Coordinator) interrupted(ctx context.Context, k plan.Kind) bool {
	return k != plan.Done && k != plan.Refused && k != plan.Held && (ctx.Err() != nil || c.life.Err() != nil)
}

// brokenOff is the answer of a call that the coordinator itself has ended. It is
// nobody's failure, so it uses up no attempt.
func brokenOff() plan.Answer {
	return plan.Answer{Kind: plan.Pending, BrokenOff: true, After: time.Millisecond, Note: "broken off"}
}

// notCalled is the answer of a call that was broken off before it was made.
func notCalled() plan.Answer {
	return plan.Answer{Kind: plan.Held, After: time.Millisecond, Note: "broken off"}
}

func held() plan.Answer {
	return plan.Answer{Kind: plan.Held, After: holdBack, Down: true, Note: "target is down"}
}

// judge is what an answer says about the target as a whole.
func judge(a plan.Answer) verdict {
	switch {
	case a.Down:
		return down
	case a.Kind == plan.Held:
		return nothing // nobody was asked
	case a.Kind == plan.Failed || a.Kind == plan.Unreached:
		return failing
	default:
		return well
	}
}

// dispatch finds who can make the call. A message keeps what is the same for all attempts.
func (c *Coordinator) dispatch(ctx context.Context, f *flight, call txn.Call) plan.Answer {
	scheme, rest := plan.Scheme(f.target)
	switch scheme {
	case "":
		return c.function(ctx, rest, call)
	case "async":
		return c.assure(ctx, txn.Target(rest), f)
	}
	return c.opts.Callers[scheme].Call(ctx, f.target, call)
}

// function calls a participant in this process.
func (c *Coordinator) function(ctx context.Context, name string, call txn.Call) (a plan.Answer) {
	f, _ := c.names.get(name) // whoever is registered stays
	defer func() {
		if p := recover(); p != nil {
			c.opts.Logger.Error("participant panicked", "function", name, "panic", p, "stack", string(debug.Stack()))
			a = plan.Answer{Kind: plan.Failed, Note: fmt.Sprintf("panic: %v", p)}
		}
	}()
	result, err := f(ctx, lent(call))
	return returned(ctx, bytes.Clone(result), err)
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

// submitPart makes a transaction of a part of another, which was accepted with it.
func (c *Coordinator) submitPart(ctx context.Context, d txn.Definition) error {
	t, rec, err := c.prepare(ctx, d, false)
	if err == nil {
		_, err = c.accept(ctx, t, rec)
	} else {
		_, err = c.sentBefore(ctx, &d, err)
	}
	return err
}

// assure hands a call to a reliable message of its own. The part is done once that
// is durable, because it will arrive.
func (c *Coordinator) assure(ctx context.Context, to txn.Target, f *flight) plan.Answer {
	err := c.submitPart(ctx, assured(to, &f.call, f.life))
	_, inDoubt := errors.AsType[*txn.InDoubtError](err)
	switch {
	case err == nil:
		return plan.Answer{Kind: plan.Done}
	case inDoubt: // the store does not answer, which is nobody's failure
		return brokenOff()
	default:
		_, lasting := errors.AsType[*txn.FieldError](err)
		return plan.Answer{Kind: plan.Failed, Note: err.Error(), Lasting: lasting || errors.Is(err, txn.ErrExists)}
	}
}
