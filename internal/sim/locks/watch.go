package locks

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// watch is a subscription for releases of a name.
type watch struct {
	backend *backend
	name    string
	c       chan struct{}
	count   atomic.Uint64
	pushes  uint64
	gone    bool
	twin    driver.Watch // of memlock; nil where the model wakes
	over    chan struct{}
}

// Watch implements [driver.Waiter].
func (b *backend) Watch(ctx context.Context, name string, _ driver.Kind) (driver.Watch, error) {
	w := &watch{backend: b, name: name, c: make(chan struct{}, 1)}
	_, err := askStore(ctx, b, "watch "+name, func() (bool, error) {
		b.store.subscribe(w)
		return true, nil
	})
	if err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

func (s *store) subscribe(w *watch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.gone || s.watches[w.name][w] {
		return
	}
	if s.watches[w.name] == nil {
		s.watches[w.name] = make(map[*watch]bool)
	}
	s.watches[w.name][w] = true
	w.backend.watchTwin(w)
}

// C implements [driver.Watch].
func (w *watch) C() <-chan struct{} { return w.c }

// Close implements [driver.Watch].
func (w *watch) Close() {
	s := w.backend.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.twin != nil && !w.gone {
		w.twin.Close()
		close(w.over)
	}
	w.gone = true
	delete(s.watches[w.name], w)
	if len(s.watches[w.name]) == 0 {
		delete(s.watches, w.name)
	}
}

// push sends a signal on its way. One that may have been lost follows when the
// connection is made again. The store's mutex is held.
func (w *watch) push() {
	l := w.backend.link
	w.pushes++
	at := l.Push(w.name, w.pushes)
	time.AfterFunc(at, w.notify)
}

// pushLater is push from outside of the store.
func (w *watch) pushLater() {
	w.backend.store.mu.Lock()
	defer w.backend.store.mu.Unlock()
	if !w.gone {
		w.push()
	}
}

// Count implements [driver.Watch].
func (w *watch) Count() uint64 { return w.count.Load() }

// notify counts, and leaves a signal unless there is one already.
func (w *watch) notify() {
	w.count.Add(1)
	select {
	case w.c <- struct{}{}:
	default:
	}
}
