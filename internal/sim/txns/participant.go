package txns

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/internal/sim"
	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/txn"
)

// errTrouble is what a participant says that does not know.
var errTrouble = errors.New("out of order")

// serveCall is one call of a participant by one life of a replica.
func (w *world) serveCall(ctx context.Context, l *life, number int, call txn.Call) (result []byte, err error) {
	if l.window.isDead() {
		return nil, errDead
	}
	err = errTrouble // unless it returns
	v := w.judge.calls(l.replica, number, &call)
	defer func() { w.judge.answers(ctx, v, l, err) }()
	seed := w.plan.seed.Named(v.text()).At(uint64(v.number))
	mood := w.mood(number, seed)
	t := &w.plan.targets[number]
	w.report.Trace("replica %d calls %s: %s, attempt %d, epoch %d: %s",
		l.replica, t.name, v.text(), call.Attempt, call.Epoch, mood)
	took := seed.At(1).Between(t.near, t.far)
	if mood == slow {
		took = seed.At(2).Between(t.near, 2*w.plan.limit)
	}
	if mood == hangs {
		<-w.over
		return nil, errTrouble
	}
	if sleep.For(ctx, took) {
		result, err = w.behave(ctx, mood, &call, seed)
	}
	if w.barrier != nil && seed.At(5).Chance(0.2) {
		w.echo(call, seed.At(6).Between(0, 5*time.Second))
	}
	if ctx.Err() != nil {
		sim.Apart(seed)
	}
	return result, err
}

// behave answers a call as the participant's mood wants it.
func (w *world) behave(ctx context.Context, mood ill, call *txn.Call, seed sim.Seed) ([]byte, error) {
	switch mood {
	case fails:
		return nil, errTrouble
	case forgets:
		_ = w.doCall(ctx, call, false)
		return nil, errTrouble
	case silent:
		<-ctx.Done()
		return nil, ctx.Err()
	case panics:
		panic("out of its mind")
	case exits:
		runtime.Goexit()
	case hangs, slow, refuses, babbling: // before or after this
	case works:
		return nil, txn.Pending(seed.At(3).Between(time.Millisecond, time.Second))
	}
	refuse := mood == refuses && (call.Op == "action" || call.Op == "try")
	if err := w.doCall(ctx, call, refuse); err != nil {
		return nil, err
	}
	if mood == babbling {
		return make([]byte, 100<<10), nil
	}
	return []byte(`"done"`), nil
}

// mood is how a participant takes a call.
func (w *world) mood(number int, seed sim.Seed) ill {
	now := w.report.Now()
	for i := range w.plan.moods {
		m := &w.plan.moods[i]
		if m.target == number && m.from <= now && now < m.to && seed.At(4, uint64(i)).Chance(m.share) {
			return m.ill
		}
	}
	return ""
}

// caller reaches participants by URL.
type caller struct {
	world *world
	life  *life
}

// Check implements txn.Caller.
func (caller) Check(txn.Target) error { return nil }

// Schemes implements txn.Caller.
func (caller) Schemes() []string { return []string{"http"} }

// Call implements txn.Caller.
func (c caller) Call(ctx context.Context, target txn.Target, call txn.Call) (a txn.Answer) {
	for i := range c.world.plan.targets {
		if c.world.plan.targets[i].name == target {
			return c.callOverHTTP(ctx, i, call)
		}
	}
	panic(fmt.Sprintf("target %s is not in the plan", target))
}

// callOverHTTP translates an answer as a caller over HTTP does.
func (c caller) callOverHTTP(ctx context.Context, number int, call txn.Call) txn.Answer {
	result, err := c.protected(ctx, number, call)
	pending, isPending := errors.AsType[*txn.PendingError](err)
	switch {
	case err == nil:
		return txn.Answer{Kind: txn.AnswerDone, Result: result}
	case txn.Aborted(err):
		return txn.Answer{Kind: txn.AnswerRefused, Note: err.Error()}
	case isPending:
		return txn.Answer{Kind: txn.AnswerPending, After: pending.After}
	default:
		return txn.Answer{Kind: txn.AnswerFailed, Down: ctx.Err() != nil, Note: err.Error()}
	}
}

// protected is a call to another process: it may end badly there, and it is not
// waited for after its context has ended.
func (c caller) protected(ctx context.Context, number int, call txn.Call) ([]byte, error) {
	type reply struct {
		result []byte
		err    error
	}
	replies := make(chan reply, 1)
	go func() {
		r := reply{err: errTrouble}
		defer func() {
			_ = recover() // the other process has logged it
			replies <- r
		}()
		r.result, r.err = c.world.serveCall(ctx, c.life, number, call)
	}()
	select {
	case r := <-replies:
		return r.result, r.err
	case <-ctx.Done():
		sim.Apart(c.world.plan.seed.Named(call.Transaction + call.Branch + call.Op))
		return nil, ctx.Err()
	}
}

// forward reports whether an operation belongs to the time before the decision.
func forward(op string) bool {
	return op == "action" || op == "try" || op == "check" || strings.HasPrefix(op, "hook:")
}
