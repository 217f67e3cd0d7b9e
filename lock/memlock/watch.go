package memlock

import (
	"context"
	"sync/atomic"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// watch is one listener for releases of a name, or for a turn.
type watch struct {
	backend *backend
	name    string
	c       chan struct{}
	count   atomic.Uint64
}

// Watch implements [driver.Waiter].
func (b *backend) Watch(_ context.Context, name string, _ driver.Kind) (driver.Watch, error) {
	return b.startWatch(name), nil
}

// startWatch listens for the releases of a name, or for somebody's turn: see [turnOf].
func (b *backend) startWatch(name string) *watch {
	s := b.store
	w := &watch{backend: b, name: name, c: make(chan struct{}, 1)}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listeners[name] == nil {
		s.listeners[name] = make(map[*watch]struct{})
	}
	s.listeners[name][w] = struct{}{}
	return w
}

// C implements [driver.Watch].
func (w *watch) C() <-chan struct{} { return w.c }

// Close implements [driver.Watch].
func (w *watch) Close() {
	s := w.backend.store
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.listeners[w.name], w)
	if len(s.listeners[w.name]) == 0 {
		delete(s.listeners, w.name)
	}
}

// Count implements [driver.Watch].
func (w *watch) Count() uint64 { return w.count.Load() }

// signal counts, and leaves a signal unless there is one already.
func (w *watch) signal() {
	w.count.Add(1)
	select {
	case w.c <- struct{}{}:
	default:
	}
}
