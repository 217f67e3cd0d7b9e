package locks

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/internal/sim"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// world is a run under way.
type world struct {
	plan    *plan
	report  *sim.Report
	net     *sim.Net
	store   *store
	memlock *memlock.Store // nil where the model is alone
	judge   *judge
	clients []*lock.Client
	links   []*sim.Link
	backs   []*backend
}

// promptly is how soon a call must end after its context has.
const promptly = 200 * time.Millisecond

// Play implements [sim.Plan].
func (p *plan) Play(r *sim.Report, with func(int) bool) {
	q := p.without(with)
	w := &world{plan: q, report: r, net: sim.NewNet(p.seed, r, q.troubles)}
	w.judge = newJudge(r, w.net, 8*p.roundTrip())
	w.judge.lags = &q.lags
	w.judge.stepping = len(q.steps) > 0
	w.judge.lingering = slices.ContainsFunc(q.clients, func(c site) bool { return c.linger > 0 })
	w.judge.two = len(q.clients) == 2
	w.judge.lossless = !slices.ContainsFunc(q.clients, func(c site) bool { return !c.leaves })
	w.store = newStore(r, w.judge)
	if q.real && len(q.steps) == 0 {
		w.memlock = memlock.NewStore(nil)
	}
	for i, c := range q.clients {
		w.connect(i, c)
	}
	for _, s := range q.steps {
		time.AfterFunc(s.at, func() { w.store.jumpClock(s.by) })
	}
	if w.runWorkers() {
		w.judgeQuiet()
	}
	w.close()
}

func (w *world) connect(i int, c site) {
	seed := w.plan.seed.Named("client").At(uint64(i))
	l := &sim.Link{Net: w.net, ID: i, Near: c.near, Far: c.far, Patience: 3 * time.Second}
	b := &backend{
		store: w.store, link: l, seed: seed, skew: seed.Between(time.Hour, 2*time.Hour), shards: c.shards,
		leaves: c.leaves, lags: &w.plan.lags,
		twin: newTwin(w.memlock),
	}
	var way driver.Backend = b
	if w.plan.passes && !c.old {
		way = successor{b}
	}
	client, err := lock.New(way, &lock.Options{
		TTL: time.Second, HandOff: w.plan.handOff, Patience: w.plan.patience, Linger: c.linger, Observer: watcher{w, i},
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		panic(err)
	}
	w.clients, w.links, w.backs = append(w.clients, client), append(w.links, l), append(w.backs, b)
}

// runWorkers lets all workers do what they have to, and reports whether they came to an end.
func (w *world) runWorkers() bool {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var workers sync.WaitGroup
	for i, c := range w.plan.clients {
		for n := range c.workers {
			workers.Go(func() {
				time.Sleep(w.plan.seed.Named("worker").At(uint64(i), uint64(n)).Between(0, time.Millisecond))
				w.toil(ctx, i, n)
			})
		}
	}
	done := make(chan struct{})
	go func() {
		workers.Wait()
		close(done)
	}()
	select {
	case <-done:
		return true
	case <-time.After(w.plan.longest()):
	}
	w.report.Break(ruleEnds, "workers are still at work after %s", w.plan.longest())
	cancel()
	select {
	case <-done:
	case <-time.After(time.Minute):
	}
	return false
}

// longest is more than all holds of a run one after the other take.
func (p *plan) longest() time.Duration {
	sum := 2 * time.Minute
	for i := range p.ops {
		o := &p.ops[i]
		sum += o.pause + o.hold + o.opts.MinHold + 2*o.opts.TTL + 20*p.roundTrip() + 50*time.Millisecond
	}
	for _, t := range p.troubles {
		sum += t.To - t.From + 10*time.Second
	}
	for _, s := range p.steps {
		sum += max(s.by, -s.by)
	}
	return sum
}

// toil is the life of one worker.
func (w *world) toil(ctx context.Context, client, worker int) {
	for i := range w.plan.ops {
		o := &w.plan.ops[i]
		if o.client != client || o.worker != worker {
			continue
		}
		time.Sleep(o.pause)
		if ctx.Err() != nil {
			return
		}
		switch o.deed {
		case forces:
			w.force(ctx, o)
		default:
			w.lockAndUnlock(ctx, o)
		}
	}
}

// force takes a lock away from whoever has it.
func (w *world) force(ctx context.Context, o *op) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	w.judge.disturb(o.name)
	_, err := w.clients[o.client].ForceRelease(ctx, o.name)
	w.report.Trace("client %d, worker %d: force %s: %v", o.client, o.worker, o.name, err)
}

// lockAndUnlock takes a lock, holds it, and gives it back.
func (w *world) lockAndUnlock(ctx context.Context, o *op) {
	l, err := w.waitForLock(ctx, o)
	w.report.Trace("client %d, worker %d: %s %s: %v", o.client, o.worker, o.deed, o.name, describe(l, err))
	if err != nil {
		return
	}
	b := w.judge.believe(l, o.client)
	granted := w.report.Now()
	w.reenter(l, o)
	select {
	case <-l.Context().Done():
		w.lost(l, o, granted)
	case <-time.After(o.hold):
	}
	w.judge.beginUnlock(b)
	w.unlock(ctx, b, o)
}

func describe(l *lock.Lease, err error) string {
	if held, ok := errors.AsType[*lock.HeldError](err); ok {
		return "held by " + short(held.Owner)
	}
	if err != nil || l == nil {
		// Names a client, which differs from run to run.
		told, _, _ := strings.Cut(fmt.Sprint(err), "; before that: lock")
		return told
	}
	return fmt.Sprintf("token %d, owner %s", l.Token(), short(l.Owner()))
}

// waitForLock waits for a lock, and judges how the wait ends. The lease's context descends
// from this one, so it is cancelled only to end the wait.
func (w *world) waitForLock(ctx context.Context, o *op) (*lock.Lease, error) {
	began := w.report.Now()
	if o.cancel > 0 {
		limited, cancel := context.WithCancel(ctx)
		defer time.AfterFunc(o.cancel, cancel).Stop()
		ctx = limited
	}
	l, err := w.lockOrTry(ctx, o)
	if o.cancel > 0 {
		w.prompt(began+o.cancel, o, "context")
	}
	if o.opts.Wait > 0 && o.deed == locks {
		w.prompt(began+o.opts.Wait, o, "Wait")
	}
	expected := ctx.Err() != nil || o.opts.Wait > 0 || errors.Is(err, lock.ErrHeld) && o.deed == tries
	expected = expected || o.deed == tries && w.judge.disturbed(o.name) // its grant may have been taken away at once
	if err != nil && !expected && w.judge.well(began) {
		w.report.Break(ruleErrors, "client %d: %s %s: %v", o.client, o.deed, o.name, err)
	}
	return l, err
}

func (w *world) lockOrTry(ctx context.Context, o *op) (*lock.Lease, error) {
	m := w.clients[o.client].Mutex(o.name, &o.opts)
	if o.deed == tries {
		return m.TryLock(ctx)
	}
	wish := w.judge.wants(o.name, o.client)
	defer w.judge.wanted(o.name, wish)
	return m.Lock(ctx)
}

// prompt judges whether a call has come back in time.
func (w *world) prompt(limit time.Duration, o *op, what string) {
	if late := w.report.Now() - limit; late > promptly {
		w.report.Break(rulePrompt, "client %d: %s %s came back %s after the end of its %s",
			o.client, o.deed, o.name, late, what)
	}
}

// reenter enters a lock again and leaves it.
func (w *world) reenter(l *lock.Lease, o *op) {
	inner := l
	for range o.again {
		next, err := w.clients[o.client].Mutex(o.name, nil).Lock(inner.Context())
		if err != nil {
			return // lost meanwhile
		}
		defer func() { _ = next.Unlock(context.Background()) }() // inner ones say the same as the outermost
		inner = next
	}
}

// lost judges the loss of a lease.
func (w *world) lost(l *lock.Lease, o *op, granted time.Duration) {
	cause := context.Cause(l.Context())
	w.report.Trace("client %d, worker %d: lost %s: %v", o.client, o.worker, o.name, cause)
	now := w.report.Now()
	switch {
	case !errors.Is(cause, lock.ErrLost), o.opts.Fixed && now-granted > o.opts.TTL/2, w.judge.disturbed(o.name):
		return
	case len(w.plan.steps) > 0, len(w.plan.lags.spans) > 0:
		return
	case w.net.Well(o.client, min(granted, now-o.opts.TTL)-time.Second):
		w.report.Break(ruleLoss, "client %d lost %s, TTL %s, %s after it was granted: %v",
			o.client, o.name, o.opts.TTL, now-granted, cause)
	}
}

// unlock gives a lock back and judges what is said of it.
func (w *world) unlock(ctx context.Context, b *belief, o *op) {
	ctx = context.WithoutCancel(ctx)
	called := w.report.Now()
	if o.hurry > 0 {
		limited, cancel := context.WithTimeout(ctx, o.hurry)
		defer cancel()
		ctx = limited
	}
	err := b.lease.Unlock(ctx)
	w.report.Trace("client %d, worker %d: unlock %s: %v", o.client, o.worker, o.name, err)
	w.judge.gone(b)
	if o.hurry > 0 {
		w.prompt(called+o.hurry, o, "unlock's context")
	}
	switch {
	case err == nil:
		w.judge.unlocked(b, called)
	case errors.Is(err, lock.ErrLost), o.hurry > 0, w.judge.disturbed(o.name):
	case w.judge.well(called):
		w.report.Break(ruleErrors, "client %d: unlock %s: %v", o.client, o.name, err)
	}
}
