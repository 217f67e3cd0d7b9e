package coord

import (
	"context"
	"iter"
	"sync"

	"github.com/bedrock-go/bedrock/txn"
)

// Watch yields a transaction now and after changes until it is final. All watchers of a
// transaction share what is read of it; each is given a copy. A watcher that is slow sees
// the newest next, and not what came in between.
func (c *Coordinator) Watch(ctx context.Context, id string) iter.Seq2[*txn.Transaction, error] {
	return func(yield func(*txn.Transaction, error) bool) {
		v, err := c.joinView(id)
		if err != nil {
			yield(nil, err)
			return
		}
		defer c.views.leaveView(v)
		t, err := c.Get(ctx, id) // what was read for others may be old
		for err == nil {
			seen, final := versionOf(t), t.Status.Final()
			if !yield(t, nil) || final {
				return
			}
			t, err = v.waitNewer(ctx, seen)
		}
		yield(nil, err)
	}
}

// views are the transactions that are watched. However many watch one, it is read once
// per change.
type views struct {
	mu      sync.Mutex
	byID    map[string]*view
	closed  bool
	readers sync.WaitGroup
}

// joinView adds a watcher to the view of a transaction. The view notices what changes from
// now on.
func (c *Coordinator) joinView(id string) (*view, error) {
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
		c.views.readers.Go(func() { c.readView(ctx, v, heard) })
	}
	v.watchers++
	return v, nil
}

// leaveView ends the view with its last watcher.
func (s *views) leaveView(v *view) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v.watchers--; v.watchers == 0 {
		v.stop()
		s.removeView(v)
	}
}

// removeView makes room for a new view of the same ID. It is called with the lock held.
func (s *views) removeView(v *view) {
	if s.byID[v.id] == v {
		delete(s.byID, v.id)
	}
}

func (s *views) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.byID)
}

// close lets nobody join any more, and waits for the readers. The coordinator's life is
// over by then, which ends them.
func (s *views) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.readers.Wait()
}
