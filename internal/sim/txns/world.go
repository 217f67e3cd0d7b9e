package txns

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/internal/sim"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/barrier"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

// world is a run under way.
type world struct {
	plan   *script
	report *sim.Report
	net    *sim.Net
	store  *memstore.Store
	judge  *judge
	over   chan struct{} // closed when participants that hang may end

	barrier  *barrier.Barrier // before all participants, in some runs
	database *sql.DB
	echoes   sync.WaitGroup

	mu      sync.Mutex
	lives   []*life // the present ones; nil for a replica that is away
	all     []*life
	clients sync.WaitGroup
}

// life is a replica from its start to its end.
type life struct {
	replica int
	name    string
	coord   *coord.Coordinator
	window  *window
	ended   time.Duration // 0 while it lasts
}

// Play implements [sim.Plan].
func (p *script) Play(r *sim.Report, with func(int) bool) {
	q := p.without(with)
	w := &world{
		plan: q, report: r, net: sim.NewNet(p.seed, r, q.troubles), store: memstore.New(nil),
		over: make(chan struct{}), lives: make([]*life, len(q.replicas)),
	}
	w.judge = newJudge(w)
	if q.barred {
		w.openBarrier()
		defer w.closeBarrier()
	}
	for i := range q.replicas {
		w.startReplica(i)
	}
	time.Sleep(q.seed.Named("start").Between(0, time.Millisecond))
	began := r.Now()
	for i := range q.ends {
		w.clients.Go(func() { w.endLife(&q.ends[i]) })
	}
	for i := range q.ops {
		w.clients.Go(func() { w.runClient(&q.ops[i], began) })
	}
	w.clients.Wait()
	w.finish()
}

// startReplica starts a replica. It has to try again while the store is away.
func (w *world) startReplica(replica int) {
	s := &w.plan.replicas[replica]
	l := &life{replica: replica, name: fmt.Sprintf("replica %d from %s", replica, w.report.Now())}
	l.window = &window{
		Link:  &sim.Link{Net: w.net, ID: replica, Near: s.near, Far: s.far, Patience: 4 * time.Second, Dull: poll},
		store: w.store, judge: w.judge, dead: make(chan struct{}),
		seed: w.plan.seed.Named("replica").At(uint64(replica), uint64(w.report.Now())),
	}
	for {
		l.coord = w.coordinator(l, s)
		ctx, cancel := context.WithTimeout(background(), 5*time.Second)
		err := l.coord.Start(ctx)
		cancel()
		if err == nil {
			break
		}
		_ = l.coord.Stop(background()) // it has not begun
		time.Sleep(100 * time.Millisecond)
	}
	w.report.Trace("replica %d begins", replica)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lives[replica] = l
	w.all = append(w.all, l)
}

func (w *world) coordinator(l *life, s *site) *coord.Coordinator {
	c, err := coord.New(l.window, &coord.Options{
		Replica: l.name, Lease: s.lease, Poll: s.poll, PerTarget: s.perTarget, Claimers: s.claimers, Active: s.active,
		Retention: coord.Retention{Keep: -1}, Callers: []txn.Caller{caller{w, l}},
		Observer: observer{w, l.replica}, Tracing: tracer{w, s.tracer}, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		panic(err)
	}
	for i := range w.plan.targets {
		name := string(w.plan.targets[i].name)
		if name[0] != 't' {
			continue
		}
		err := c.Register(name, func(ctx context.Context, call txn.Call) ([]byte, error) {
			return w.serveCall(ctx, l, i, call)
		})
		if err != nil {
			panic(err)
		}
	}
	return c
}

// observer tells the events of a replica.
type observer struct {
	world   *world
	replica int
}

// Observe implements [coord.Observer].
func (o observer) Observe(_ context.Context, e coord.Event) {
	if e.Kind == coord.EventCalled && e.Answer == txn.AnswerPending {
		return // of a call that is broken off, chance says whether it had begun
	}
	o.world.report.Trace("replica %d: event %s %s %s %s %s %s %s %d %s",
		o.replica, e.Kind, e.ID, e.Branch, e.Op, e.Target, e.Status,
		e.Answer, e.Count, e.Reason)
	if e.Kind == coord.EventClaimed {
		sim.Apart(o.world.plan.seed.At(uint64(o.world.report.Now()))) // what was claimed begins before more is claimed
	}
}

// tracer takes its time. Messages that one transaction sends side by side go on one by one:
// where a replica drives as many as it may, chance would say which of them it has room for.
type tracer struct {
	world *world
	most  time.Duration
}

// Submit implements [coord.Tracing].
func (tracer) Submit(context.Context, *txn.Definition) map[string]string { return nil }

// Call implements [coord.Tracing].
func (t tracer) Call(
	_ context.Context, call *txn.Call, target txn.Target,
) (map[string]string, func(txn.Answer)) {
	seed := t.world.plan.seed.Named(call.Transaction + call.Branch + call.Op).At(uint64(t.world.report.Now()))
	if t.most > 0 {
		time.Sleep(seed.Between(0, t.most))
	}
	if _, message := target.Async(); message {
		sim.Apart(seed)
	}
	return call.Headers, func(txn.Answer) {}
}

// endLife stops a replica, or lets it die, and begins it anew.
func (w *world) endLife(e *end) {
	time.Sleep(e.at)
	w.mu.Lock()
	l := w.lives[e.replica]
	w.lives[e.replica] = nil
	w.mu.Unlock()
	if l == nil {
		return
	}
	w.judge.ends(l)
	w.report.Trace("%s", e)
	if e.crash {
		close(l.window.dead)
	}
	w.stop(l, e.crash)
	time.Sleep(e.back)
	w.startReplica(e.replica)
}

// stopTime is enough to enter what is known and to hand it over, on a healthy store.
const stopTime = 20 * time.Second

// stop ends a coordinator. One that is dead has nothing to say.
func (w *world) stop(l *life, dead bool) {
	began := w.report.Now()
	limit := stopTime
	if dead {
		limit = time.Millisecond
	}
	ctx, cancel := context.WithTimeout(background(), limit)
	defer cancel()
	err := l.coord.Stop(ctx)
	w.report.Trace("replica %d has stopped: %v", l.replica, err)
	if err != nil && !dead && w.judge.well(began) {
		w.report.Break(ruleEnds, "replica %d does not stop: %v", l.replica, err)
	}
}

// present is a replica that is there: this one, or another.
func (w *world) present(replica int) *life {
	for {
		w.mu.Lock()
		for i := range w.lives {
			if l := w.lives[(replica+i)%len(w.lives)]; l != nil {
				w.mu.Unlock()
				return l
			}
		}
		w.mu.Unlock()
		time.Sleep(50 * time.Millisecond)
	}
}
