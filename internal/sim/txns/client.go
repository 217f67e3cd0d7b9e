package txns

import (
	"context"
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/txn"
)

// runClient is what one client does.
func (w *world) runClient(o *op, began time.Duration) {
	time.Sleep(began + o.at - w.report.Now())
	l := w.present(o.replica)
	ctx, cancel := context.WithTimeout(background(), o.limit)
	defer cancel()
	c := &claim{op: o, life: l, called: w.report.Now()}
	c.told, c.err = w.perform(ctx, o, l)
	c.returned = w.report.Now()
	w.report.Trace("client %s: told %s, %s", o, c.told.Outcome, c.errorText())
	if late := c.returned - c.called - o.limit; late > promptly {
		w.report.Break(rulePrompt, "%s: came back %s after the end of its context", o, late)
	}
	w.judge.addClaim(c)
}

// perform makes the call.
func (w *world) perform(ctx context.Context, o *op, l *life) (txn.Result, error) {
	switch o.deed {
	case submits, repeats:
		d := o.make()
		defer scribble(&d)
		_, err := l.coord.Submit(ctx, d)
		return txn.Result{}, err
	case runs:
		d := o.make()
		defer scribble(&d)
		return l.coord.Run(ctx, d)
	case begins:
		return w.begins(ctx, o, l)
	case enlists:
		return w.enlist(ctx, o, l)
	case commits:
		w.judge.ledger.commit(o.id)
		return txn.Result{}, l.coord.Commit(ctx, o.id)
	case rollsBack:
		return txn.Result{}, l.coord.RollBack(ctx, o.id, "the client wants it")
	case waits:
		return l.coord.Wait(ctx, o.id)
	default:
		return txn.Result{}, l.coord.Act(ctx, o.id, actions()[o.deed], "the client wants it")
	}
}

func actions() map[deed]txn.Action {
	return map[deed]txn.Action{
		retries: txn.ActRetry, parks: txn.ActPark, resumes: txn.ActResume, compensate: txn.ActCompensate,
		abandons: txn.ActAbandon,
	}
}

func (w *world) begins(ctx context.Context, o *op, l *life) (txn.Result, error) {
	d := o.make()
	defer scribble(&d)
	_, err := l.coord.Begin(ctx, d)
	return txn.Result{}, err
}

// enlist adds a branch of its own.
func (w *world) enlist(ctx context.Context, o *op, l *life) (txn.Result, error) {
	b := enlisted(w.plan, o.id, int(max(o.at, 0)%97))
	err := l.coord.Enlist(ctx, o.id, b)
	scribbleBranch(&b)
	return txn.Result{}, err
}

// scribble uses the memory of a definition again, as a client may.
func scribble(d *txn.Definition) {
	for name := range d.Headers {
		d.Headers[name] = "scribbled"
	}
	for i := range d.Branches {
		scribbleBranch(&d.Branches[i])
	}
}

func scribbleBranch(b *txn.Branch) {
	for i := range b.Payload {
		b.Payload[i] = 'x'
	}
	b.Do, b.Confirm, b.Undo = "scribbled", "scribbled", "scribbled"
	if b.Policy != nil {
		*b.Policy = txn.Policy{Attempts: 1}
	}
}

// claim is what a client was told.
type claim struct {
	op               *op
	life             *life
	called, returned time.Duration
	told             txn.Result
	err              error
}

// inDoubt reports whether the client knows that it does not know.
func (c *claim) inDoubt() bool {
	_, ok := errors.AsType[*txn.InDoubtError](c.err)
	return ok
}

// errorText is the error; why something is in doubt may be for chance to choose.
func (c *claim) errorText() string {
	switch {
	case c.err == nil:
		return "no error"
	case c.inDoubt():
		return "in doubt"
	default:
		return c.err.Error()
	}
}

// commit records that the producer of a message has committed.
func (l *ledger) commit(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.taken[id] = true
}
