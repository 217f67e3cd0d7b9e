package coord

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/bedrock-go/bedrock/coord/internal/lanes"
	"github.com/bedrock-go/bedrock/txn"
)

// callOnce makes the call and enters how it went, however it ends.
func (c *Coordinator) callOnce(ctx context.Context, f *flight, a *answer) {
	limited, cancel := context.WithTimeout(ctx, f.limit)
	defer cancel()
	call := f.call
	f.began.Store(c.clock.now().UnixMicro())
	end := endNothing
	defer func() {
		c.finishCall(ctx, f, a)
		c.endSpan(call.Transaction, end, a.Answer)
	}()
	call.Headers, end = c.startSpan(limited, &call, f.target)
	if ctx.Err() != nil {
		a.Answer = notCalledAnswer() // broken off meanwhile, perhaps by a decision
		return
	}
	a.Answer = c.dispatch(limited, f, call)
}

// dispatch gives the call to whoever can make it. An async message is made of the flight's
// call, which is the same for all attempts, without the headers of this one.
func (c *Coordinator) dispatch(ctx context.Context, f *flight, call txn.Call) (a txn.Answer) {
	defer c.survivePanic(f.target, &a)
	switch scheme := f.target.Scheme(); scheme {
	case "":
		return c.callFunction(ctx, string(f.target), call)
	case txn.SchemeAsync:
		to, _ := f.target.Async()
		return c.sendAsync(ctx, to, f)
	default:
		return c.callers[scheme].Call(ctx, f.target, call)
	}
}

// survivePanic makes an answer of the panic of a function, or of who makes calls: nobody knows
// what it had done by then.
func (c *Coordinator) survivePanic(target txn.Target, a *txn.Answer) {
	if p := recover(); p != nil {
		c.opts.Logger.Error("participant panicked", "target", target, "panic", p, "stack", string(debug.Stack()))
		*a = txn.Answer{Kind: txn.AnswerFailed, Note: fmt.Sprintf("panic: %v", p)}
	}
}

// finishCall tells the lane, the run and the observer how a call went.
func (c *Coordinator) finishCall(ctx context.Context, f *flight, a *answer) {
	found := findingOf(a.Answer)
	if c.isInterrupted(ctx, a.Kind) {
		found, a.Answer = lanes.Nothing, brokenOffAnswer()
	}
	c.endFlight(f, found)
	c.trimResult(&a.Answer)
	a.attempt, a.recoveries = c.attempt(f, a.Answer), f.lane.Recoveries()
	c.opts.Observer.Observe(ctx, Event{
		Kind: EventCalled, ID: f.call.Transaction, Mode: f.call.Mode, Branch: f.call.Branch, Op: f.call.Op,
		Target: txn.Target(f.lane.Name()), Answer: a.Kind, Took: a.attempt.Took, Reason: a.Note,
	})
}

// isInterrupted reports whether the coordinator itself has caused an answer: the call was
// broken off, or was under way while the coordinator stops, when participants that use the
// coordinator fail, too. A definite answer counts all the same.
func (c *Coordinator) isInterrupted(ctx context.Context, k txn.AnswerKind) bool {
	return k != txn.AnswerDone && k != txn.AnswerRefused && k != txn.AnswerHeld &&
		(ctx.Err() != nil || c.life.Err() != nil)
}

// findingOf is what an answer says about the target as a whole.
func findingOf(a txn.Answer) lanes.Finding {
	switch {
	case a.Down:
		return lanes.Down
	case a.Kind == txn.AnswerHeld:
		return lanes.Nothing // nobody was asked
	case a.Kind == txn.AnswerFailed || a.Kind == txn.AnswerUnreached:
		return lanes.Failing
	default:
		return lanes.Well
	}
}

// brokenOffAnswer is the answer of a call that the coordinator itself has ended. It is
// nobody's failure, so it uses up no attempt.
func brokenOffAnswer() txn.Answer {
	return txn.Answer{Kind: txn.AnswerPending, BrokenOff: true, After: time.Millisecond, Note: "broken off"}
}

// notCalledAnswer is the answer of a call that was broken off before it was made.
func notCalledAnswer() txn.Answer {
	return txn.Answer{Kind: txn.AnswerHeld, After: time.Millisecond, Note: "broken off"}
}

func heldAnswer() txn.Answer {
	return txn.Answer{Kind: txn.AnswerHeld, After: lanes.HoldBack, Down: true, Note: "target is down"}
}

// whyNotHere says why this coordinator cannot call a target at all, though others may.
func (c *Coordinator) whyNotHere(t txn.Target) error {
	switch scheme := t.Scheme(); scheme {
	case "":
		if _, ok := c.names.get(string(t)); !ok {
			return errors.New("no function of this name is registered at " + c.opts.Replica)
		}
		return nil
	case txn.SchemeAsync:
		return c.checkAsync(t)
	default:
		return c.checkScheme(scheme)
	}
}

// checkAsync refuses a target whose message could not be accepted here. That message's
// function may be anywhere.
func (c *Coordinator) checkAsync(t txn.Target) error {
	to, _ := t.Async()
	if _, topic := to.Topic(); topic || to.Scheme() == "" {
		return nil
	}
	return c.checkScheme(to.Scheme())
}
