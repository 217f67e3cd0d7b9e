package txns

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/internal/torture/stage"
)

const sampleEvery = 250 * time.Millisecond

// sample writes down how many files replicas have open at most.
func (r *run) sample(ctx context.Context) {
	most, store := map[string]int{}, map[string]int{}
	for sleep.For(ctx, sampleEvery) {
		for _, m := range r.replicas {
			if u, ok := stage.UsageOf(m.process.Pid()); ok {
				most[m.Name] = max(most[m.Name], u.Files)
			}
			if r.scene.file != "" {
				store[m.Name] = max(store[m.Name], stage.FilesOf(m.process.Pid(), r.scene.file))
			}
		}
	}
	for name, files := range most {
		r.add(&event{Kind: kindUsage, ID: name, Text: "at most", Numbers: map[string]int64{
			"files": int64(files), "store": int64(store[name]),
		}})
	}
}

const (
	// restFor is how long replicas are watched that have nothing to do but wait.
	restFor = 2 * time.Second
	// queueSize is as many as have to wait for a slot for longer than a call may take.
	queueSize = 200
	// besidesSize are enough to keep all processors busy if they do not only wait.
	besidesSize = 8
	// besidesHold is for how long there is a call to wait for.
	besidesHold = 5 * time.Second
)

// atRest lets replicas do more than they can do at once, which delays it and nothing else. Then
// it watches replicas that only wait for calls under way, and then ones that have
// nothing to do at all.
func (r *run) atRest(ctx context.Context, t *traffic) {
	var all sync.WaitGroup
	for range queueSize {
		tr := drawTransfer(r.random, t.drawn.Add(1))
		tr.Mode, tr.Fate, tr.Hold, tr.Amount = "saga", queued, crowdHold, 1
		tr.ID = fmt.Sprintf("saga-queued-%d", t.drawn.Load())
		all.Go(func() { t.make(&tr, nil) })
	}
	all.Wait()
	for range besidesSize {
		tr := drawTransfer(r.random, t.drawn.Add(1))
		tr.Mode, tr.Fate, tr.Hold, tr.Amount = "saga", besides, besidesHold, 1
		tr.ID = fmt.Sprintf("saga-besides-%d", t.drawn.Load())
		all.Go(func() { r.besides(ctx, t, &tr) })
	}
	sleep.For(ctx, 2*backoff+300*time.Millisecond)
	r.busy(ctx, "while it waits for calls")
	all.Wait()
	t.close()
	sleep.For(ctx, time.Second)
	r.busy(ctx, "at rest")
	for _, m := range r.replicas {
		u, ok := stage.UsageOf(m.process.Pid())
		if ok {
			r.add(&event{Kind: kindUsage, ID: m.Name, Text: "at rest", Numbers: map[string]int64{
				"files": int64(u.Files), "idle": int64(m.idle.Files),
			}})
		}
	}
}

// besides makes a transaction that is about to be parked while one of its branches is
// being called, and takes it back in the end.
func (r *run) besides(ctx context.Context, t *traffic, tr *transfer) {
	d, err := tr.definition(t.service.url())
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	if _, err := t.co.Submit(ctx, d); err != nil {
		return
	}
	_, _ = t.co.Wait(ctx, tr.ID) // it is parked
	_ = t.intervene(ctx, tr.ID, "compensate")
	_, _ = t.co.Wait(ctx, tr.ID)
}

// busy writes down the share of a processor that replicas take.
func (r *run) busy(ctx context.Context, when string) {
	before := map[string]stage.Usage{}
	for _, m := range r.replicas {
		before[m.Name], _ = stage.UsageOf(m.process.Pid())
	}
	sleep.For(ctx, restFor)
	for _, m := range r.replicas {
		if u, ok := stage.UsageOf(m.process.Pid()); ok {
			share := (u.CPU - before[m.Name].CPU) * 100 / restFor
			r.add(&event{Kind: kindUsage, ID: m.Name, Text: when, Numbers: map[string]int64{"percent": int64(share)}})
		}
	}
}
