package locks

import (
	"context"
	"time"

	"github.com/bedrock-go/bedrock/lock"
)

// judgeQuiet judges what goes on when nobody wants anything any more.
func (w *world) judgeQuiet() {
	longest := time.Second
	for i := range w.plan.ops {
		longest = max(longest, w.plan.ops[i].opts.TTL, w.plan.ops[i].opts.MinHold)
	}
	time.Sleep(longest + 5*time.Second) // what is unknown is settled by then
	w.net.Drain()
	w.judge.judgeEnd()
	before := w.judge.total()
	time.Sleep(time.Minute)
	if n := w.judge.total() - before; n > 0 {
		w.report.Break(ruleRest, "%d requests in a minute in which nobody wanted anything", n)
	}
	if leases, watches := w.store.count(); (leases > 0 || watches > 0) && len(w.plan.steps) == 0 {
		w.report.Break(ruleRest, "%d locks and %d subscriptions are left in the store", leases, watches)
	}
}

// close ends all clients, which must leave nothing behind.
func (w *world) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for i, c := range w.clients {
		if err := c.Stop(ctx); err != nil {
			w.report.Break(ruleRest, "client %d: %v", i, err)
		}
	}
	w.net.Drain()
}

// watcher tells the events of a client.
type watcher struct {
	world  *world
	client int
}

// Observe implements [lock.Observer].
func (o watcher) Observe(_ context.Context, e lock.Event) {
	o.world.report.Trace("client %d: event %v of %s, owner %s, token %d: %v",
		o.client, e.Kind, e.Name, short(e.Owner), e.Token, describe(nil, e.Err))
}
