package lock

import (
	"container/heap"
	"context"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/internal/outcome"
)

// A lane renews the holds of one shard, one batch at a time. It lives while
// there is something to renew.
type lane struct {
	renewer *renewer

	// Guarded by renewer.mu.
	pending deadlines
	call    call
}

// call is the one under way; zero while there is none.
type call struct {
	least  time.Duration // it is not broken off before, whoever waits
	until  time.Duration // when it is broken off
	cancel context.CancelFunc
	hurry  *time.Timer // breaks it off sooner than was meant at first, nil if nothing does
}

const (
	largestBatch = 512
	longestCall  = 5 * time.Second
	slowCall     = time.Second            // whose answer is worth waiting for
	hurriedCall  = 250 * time.Millisecond // a healthy server has answered by then
)

// push adds a hold that is due. renewer.mu is held.
func (l *lane) push(h *hold) {
	heap.Push(&l.pending, h)
	l.hurry(h)
}

// hurry leaves the call under way no more time than if h were part of it. What it asks
// for may have plenty, and a connection that hangs would cost what waits behind it.
// But a lease that is all but over breaks off no renewal of others. renewer.mu is held.
func (l *lane) hurry(h *hold) {
	now := l.renewer.client.now()
	until := max(now+callTime(h, now), l.call.least)
	if l.call.cancel == nil || until >= l.call.until {
		return
	}
	l.call.stopHurry()
	l.call.until, l.call.hurry = until, time.AfterFunc(until-now, l.call.cancel)
}

func (c *call) stopHurry() {
	if c.hurry != nil {
		c.hurry.Stop()
	}
}

// run renews batch after batch until nothing is pending.
func (l *lane) run(shard int) {
	defer l.renewer.client.work.Done()
	for {
		batch := l.takeBatch(shard)
		if len(batch) == 0 {
			return
		}
		l.renew(batch)
	}
}

// takeBatch returns the holds closest to their end. When there are none the lane is
// taken down, so that the next hold makes a new one: nobody would run this one.
func (l *lane) takeBatch(shard int) []*hold {
	r := l.renewer
	r.mu.Lock()
	defer r.mu.Unlock()
	var batch []*hold
	if !r.closed {
		batch = l.nextBatch()
	}
	if len(batch) == 0 {
		delete(r.lanes, shard)
	}
	return batch
}

// nextBatch takes out of the pending holds those that are still held, and drops
// the others on its way. renewer.mu is held.
func (l *lane) nextBatch() []*hold {
	batch := make([]*hold, 0, min(len(l.pending), largestBatch))
	for len(l.pending) > 0 && len(batch) < largestBatch {
		h := heap.Pop(&l.pending).(*hold)
		if !h.timer.Scheduled() {
			h.sending = false // released while it waited
			continue
		}
		batch = append(batch, h)
	}
	return batch
}

// renew asks the backend to renew a batch and records what came of it.
func (l *lane) renew(batch []*hold) {
	c := l.renewer.client
	grants := make([]driver.Grant, len(batch))
	sent := c.now()
	for i, h := range batch {
		grants[i] = h.renewal(sent)
	}
	ctx := l.beginCall(batch[0], sent)
	errs := c.backend.Renew(ctx, grants)
	for i, err := range errs { // whose own time-outs are answers
		errs[i] = outcome.NotTheCallersEnd(ctx, err)
	}
	l.endCall()
	l.recordBatch(batch, sent, errs)
}

// beginCall returns the context of a call for a batch that begins with first. What has
// fallen due since the batch was made up has its say in how long it may take.
func (l *lane) beginCall(first *hold, now time.Duration) context.Context {
	r := l.renewer
	r.mu.Lock()
	defer r.mu.Unlock()
	limit := callTime(first, now)
	ctx, cancel := context.WithTimeout(r.client.background, limit)
	l.call = call{least: now + hurriedCall, until: now + limit, cancel: cancel}
	if len(l.pending) > 0 {
		l.hurry(l.pending[0])
	}
	return ctx
}

// endCall ends a call.
func (l *lane) endCall() {
	l.renewer.mu.Lock()
	defer l.renewer.mu.Unlock()
	l.call.stopHurry()
	l.call.cancel()
	l.call = call{}
}

// callTime bounds a call so that the lease closest to its end can be tried again.
// A short lease gets most of what is left for a try: over a slow link a third
// would never be enough.
func callTime(h *hold, now time.Duration) time.Duration {
	left := time.Duration(h.deadline.Load()) - now
	return min(max(left/3, min(left*2/3, slowCall), tickLength), longestCall)
}

func (l *lane) recordBatch(batch []*hold, sent time.Duration, errs []error) {
	r := l.renewer
	now := r.client.now()
	fates := make([]fate, len(batch))
	slacks := make([]time.Duration, len(batch))
	r.mu.Lock()
	for i, h := range batch {
		slacks[i] = time.Duration(h.deadline.Load()) - now
		fates[i] = r.recordRenewal(h, sent, errs[i])
	}
	r.mu.Unlock()
	var lost []*hold
	for i, h := range batch {
		if fates[i] == taken {
			lost = append(lost, h)
		}
	}
	r.client.loseAll(errTaken, lost...)
	for i, h := range batch {
		if errs[i] == nil {
			r.observeRenewal(h, slacks[i])
		} else if fates[i] == late {
			r.client.opts.Logger.Warn("lock: renewal is late", "name", h.grant.Name,
				"owner", driver.PublicOwner(h.grant.Owner), "err", errs[i])
		}
	}
}

// deadlines is a heap of holds, the one closest to its end first.
type deadlines []*hold

func (d deadlines) Len() int           { return len(d) }
func (d deadlines) Less(i, j int) bool { return d[i].deadline.Load() < d[j].deadline.Load() }
func (d deadlines) Swap(i, j int)      { d[i], d[j] = d[j], d[i] }

// Push implements [heap.Interface].
func (d *deadlines) Push(x any) { *d = append(*d, x.(*hold)) }

// Pop implements [heap.Interface].
func (d *deadlines) Pop() any {
	old := *d
	last := len(old) - 1
	h := old[last]
	old[last] = nil
	*d = old[:last]
	return h
}
