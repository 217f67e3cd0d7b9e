package coord

import (
	"context"
	"sync"
)

// registry knows the transactions driven by this coordinator, and bounds them.
type registry struct {
	slots chan struct{}
	empty chan struct{} // closed when it is closed and nothing is left

	mu     sync.Mutex
	byID   map[string]*run
	closed bool
}

func (r *registry) init(limit int) {
	r.slots = make(chan struct{}, limit)
	r.empty = make(chan struct{})
	r.byID = make(map[string]*run)
}

// room is how many more could be driven.
func (r *registry) room() int { return cap(r.slots) - len(r.slots) }

// add enters a run under its ID, if there is a slot and the ID is not driven. Once
// closed there is no slot for anybody.
func (r *registry) add(id string, x *run) (other *run, ok bool) {
	select {
	case r.slots <- struct{}{}:
	default:
		return r.get(id), false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if other, taken := r.byID[id]; taken || r.closed {
		<-r.slots
		return other, false
	}
	r.byID[id] = x
	return nil, true
}

// remove forgets a run.
func (r *registry) remove(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byID, id)
	<-r.slots
	r.tellEmpty()
}

func (r *registry) tellEmpty() {
	if r.closed && len(r.byID) == 0 {
		close(r.empty)
	}
}

func (r *registry) get(id string) *run {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byID[id]
}

// len is how many are driven.
func (r *registry) len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.byID)
}

// close lets nobody in any more, and returns when nothing is driven.
func (r *registry) close() {
	r.mu.Lock()
	if !r.closed {
		r.closed = true
		r.tellEmpty()
	}
	r.mu.Unlock()
	<-r.empty
}

// evict makes the run of a transaction hand it over, and waits until it has.
func (r *registry) evict(ctx context.Context, id string) error {
	x := r.get(id)
	if x == nil {
		return nil
	}
	x.requestHandOver()
	select {
	case <-x.gone:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
