package sqlite

import (
	"context"
	"hash/fnv"
	"sync"
	"sync/atomic"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// watch is one listener for releases of a name, or for a turn.
type watch struct {
	hub   *hub
	key   uint64
	c     chan struct{}
	count atomic.Uint64
}

// C implements [driver.Watch].
func (w *watch) C() <-chan struct{} { return w.c }

// Count implements [driver.Watch].
func (w *watch) Count() uint64 { return w.count.Load() }

// Close implements [driver.Watch].
func (w *watch) Close() {
	h := w.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.watches[w.key], w)
	if len(h.watches[w.key]) == 0 {
		delete(h.watches, w.key)
	}
}

func (w *watch) wakeListener() {
	select {
	case w.c <- struct{}{}:
	default:
	}
}

// watches are those of a process, by what they listen for.
type watches map[uint64]map[*watch]struct{}

// hub hears what all processes that use the file tell of releases, and tells the watches of this one.
type hub struct {
	file *file
	work sync.WaitGroup

	mu       sync.Mutex
	watches  watches
	listens  bool
	overhear bell // nil where nobody can listen, and before anybody does
	heard    identity
}

// keyOf is what is told of a release of a name; of a turn, with its owner. Names that have the same are woken together.
func (f *file) keyOf(name, owner string) uint64 {
	h := fnv.New64a()
	for _, text := range []string{f.opts.Table, name, owner} {
		_, _ = h.Write([]byte(text)) // it never fails
		_, _ = h.Write([]byte{0})
	}
	return h.Sum64()
}

// startWatch listens for a key.
func (h *hub) startWatch(key uint64) (driver.Watch, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.startListening(); err != nil {
		return nil, err
	}
	w := &watch{hub: h, key: key, c: make(chan struct{}, 1)}
	if h.watches[key] == nil {
		h.watches[key] = make(map[*watch]struct{})
	}
	h.watches[key][w] = struct{}{}
	return w, nil
}

// signalKey tells of a release.
func (h *hub) signalKey(key uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for w := range h.watches[key] {
		w.count.Add(1)
		w.wakeListener()
	}
}

// signalAll has all ask again: a release may have been missed.
func (h *hub) signalAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, all := range h.watches {
		for w := range all {
			w.wakeListener()
		}
	}
}

func (h *hub) isWatched() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.watches) > 0
}

// Watch implements [driver.Waiter].
func (b *backend) Watch(_ context.Context, name string, _ driver.Kind) (driver.Watch, error) {
	return b.file.hub.startWatch(b.file.keyOf(name, ""))
}

// WatchTurn implements [driver.TurnWaiter].
func (b *backend) WatchTurn(_ context.Context, name, owner string) (driver.Watch, error) {
	return b.file.hub.startWatch(b.file.keyOf(name, owner))
}
