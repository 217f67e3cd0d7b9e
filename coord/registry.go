package coord

import (
	"context"
	"sync"
)

// registry knows the transactions driven by this coordinator, and bounds them.
type registry struct {
	slots chan struct{}
	runs  sync.WaitGroup

	mu   sync.Mutex
	byID map[string]*run
}

func (r *registry) init(limit int) {
	r.slots = make(chan struct{}, limit)
	r.byID = make(map[string]*run)
}

// room is how many more could be driven.
func (r *registry) room() int { return cap(r.slots) - len(r.slots) }

// add enters a run under its ID, if there is a slot and the ID is not driven.
func (r *registry) add(id string, x *run) (other *run, ok bool) {
	select {
	case r.slots <- struct{}{}:
	default:
		return r.get(id), false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if other, taken := r.byID[id]; taken {
		<-r.slots
		return other, false
	}
	r.byID[id] = x
	r.runs.Add(1)
	return nil, true
}

// remove forgets a run.
func (r *registry) remove(id string) {
	r.mu.Lock()
	delete(r.byID, id)
	r.mu.Unlock()
	<-r.slots
	r.runs.Done()
}

func (r *registry) get(id string) *run {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byID[id]
}

// wait returns when nothing is driven any more.
func (r *registry) wait() { r.runs.Wait() }

// evict makes the run of a transaction hand it over, and waits until it has.
func (r *registry) evict(ctx context.Context, id string) error {
	x := r.get(id)
	if x == nil {
		return nil
	}
	x.leave()
	select {
	case <-x.gone:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
