package server

import (
	"sync"
	"sync/atomic"
)

// room counts what goes on at once.
type room struct {
	size  int64
	taken atomic.Int64
}

func (r *room) tryTake() bool {
	for taken := r.taken.Load(); taken < r.size; taken = r.taken.Load() {
		if r.taken.CompareAndSwap(taken, taken+1) {
			return true
		}
	}
	return false
}

func (r *room) giveBack() { r.taken.Add(-1) }

// place is one that a client has taken, of the whole room and of its own.
type place struct {
	whole  *room
	own    *crowd
	client string
}

func (p place) giveBack() {
	p.whole.giveBack()
	p.own.giveBack(p.client)
}

// crowd counts what goes on at once for each client, so that none takes all the room.
type crowd struct {
	size int

	mu    sync.Mutex
	taken map[string]int
}

func (c *crowd) tryTake(client string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.taken[client] >= c.size {
		return false
	}
	if c.taken == nil {
		c.taken = make(map[string]int)
	}
	c.taken[client]++
	return true
}

func (c *crowd) giveBack(client string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.taken[client]--; c.taken[client] == 0 {
		delete(c.taken, client)
	}
}
