package lock

import (
	"hash/maphash"
	"sync"
)

// queues finds the queue of a name. It is split so that names rarely get in one
// another's way; all state of a name is guarded by its part's mutex.
type queues struct {
	client *Client
	seed   maphash.Seed
	parts  [64]part
}

// part guards the queues of some names: nothing slow happens under its mutex.
type part struct {
	mu      sync.Mutex
	byName  map[string]*queue   // by queueKey
	besides map[string][]*queue // those of them that are beside the queue of their name
	shares  shares              // of names that others want, too
	habits  habits              // of names that have no queue now
	closed  bool
}

func (t *queues) init(c *Client) {
	t.client, t.seed = c, maphash.MakeSeed()
	for i := range t.parts {
		t.parts[i].byName = make(map[string]*queue)
	}
}

func (t *queues) partOf(name string) *part {
	return &t.parts[maphash.String(t.seed, name)%uint64(len(t.parts))]
}

// addWork counts something that the client has under way for a name; it reports false when the client is stopped.
func (t *queues) addWork(name string) bool {
	p := t.partOf(name)
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		t.client.work.Add(1)
	}
	return !p.closed
}

// placeOf returns where in its part the habit of a name is.
func (t *queues) placeOf(name string) uint64 {
	return maphash.String(t.seed, name) / uint64(len(t.parts))
}

// countWaiting returns how many goroutines of this process wait for name.
func (t *queues) countWaiting(name string) int {
	p := t.partOf(name)
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	if q := p.byName[name]; q != nil {
		n = q.waiters.len
	}
	for _, q := range p.besides[name] {
		n += q.waiters.len
		if q.fair && q.holds.first == nil {
			n++
		}
	}
	return n
}

// close ends all waiting and takes the leases out of their holders' hands. The
// holds returned are to be released.
func (t *queues) close() []*hold {
	var held []*hold
	for i := range t.parts {
		held = append(held, t.parts[i].close()...)
	}
	for _, h := range held {
		h.lease.endContexts(ErrClosed)
	}
	return held
}

func (p *part) close() []*hold {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	var held []*hold
	for _, q := range p.byName {
		q.dismiss(ErrClosed)
		for h := q.holds.first; h != nil; h = h.beside {
			if h.state == possessed || h.state == lingers {
				h.state, h.cause = givenUp, ErrClosed
				held = append(held, h)
			}
		}
	}
	return held
}
