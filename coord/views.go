package coord

import (
	"context"
	"sync"

	"github.com/bedrock-go/bedrock/txn"
)

// views are the transactions that are watched. However many watch one, it is read once
// per change.
type views struct {
	mu      sync.Mutex
	byID    map[string]*view
	closed  bool
	readers sync.WaitGroup
}

// join takes part in the view of a transaction. What changes from now on is seen.
func (c *Coordinator) join(id string) (*view, error) {
	c.views.mu.Lock()
	defer c.views.mu.Unlock()
	if c.views.closed {
		return nil, txn.ErrClosed
	}
	v := c.views.byID[id]
	if v == nil {
		ctx, cancel := context.WithCancel(c.life)
		v = &view{id: id, stop: cancel, turned: make(chan struct{})}
		if c.views.byID == nil {
			c.views.byID = make(map[string]*view)
		}
		c.views.byID[id] = v
		heard := c.news.listen(id)
		c.views.readers.Go(func() { c.read(ctx, v, heard) })
	}
	v.watchers++
	return v, nil
}

// leave ends the view with its last watcher.
func (s *views) leave(v *view) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v.watchers--; v.watchers == 0 {
		v.stop()
		s.forget(v)
	}
}

// forget makes room for a new view of the same ID. It is called with the lock held.
func (s *views) forget(v *view) {
	if s.byID[v.id] == v {
		delete(s.byID, v.id)
	}
}

func (s *views) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.byID)
}

// close waits until nothing is read any more. What the readers do has ended before.
func (s *views) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.readers.Wait()
}
