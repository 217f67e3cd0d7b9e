package zklock

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/go-zookeeper/zk"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// hub knows who of this client listens for releases. All of a name share one watch of the servers, that of the node
// which has the lock; where the client stands in line itself it needs none, for its place is told. It is made when
// somebody begins to listen, or is refused because of another node.
type hub struct {
	b *backend

	mu    sync.Mutex
	names map[string]*listeners
}

// listeners are those of a name.
type listeners struct {
	watches map[*watch]struct{}
	nodes   map[string]struct{} // that are watched
}

func newHub(b *backend) *hub { return &hub{b: b, names: make(map[string]*listeners)} }

// watch is one listener.
type watch struct {
	hub   *hub
	name  string
	c     chan struct{}
	count atomic.Uint64
}

// Watch implements [driver.Waiter].
func (b *backend) Watch(ctx context.Context, name string, kind driver.Kind) (driver.Watch, error) {
	folder, err := b.layout.folderOf(name, kind.Mode())
	if err != nil {
		return nil, err
	}
	w, busy := b.hub.add(name)
	if busy || b.inLineFor(name) != nil {
		return w, nil
	}
	_, err = inSession(ctx, b, func() (struct{}, error) { return struct{}{}, b.hub.armFirst(name, folder, kind) })
	if err != nil {
		w.Close()
		return nil, describe("watch", name, err)
	}
	return w, nil
}

// Resume implements [driver.Resumer]: the watch of a node lasts until that is gone.
func (b *backend) Resume(name string, _ driver.Kind) driver.Watch {
	b.hub.mu.Lock()
	defer b.hub.mu.Unlock()
	if l := b.hub.names[name]; l != nil && len(l.nodes) > 0 {
		return b.hub.addTo(l, name)
	}
	return nil
}

// inLineFor returns the place of the client in the line of a name; nil if it has none there.
func (b *backend) inLineFor(name string) *place {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.standing[name]
}

// add adds a listener, and reports whether something is watched already.
func (h *hub) add(name string) (w *watch, busy bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.names[name]
	if l == nil {
		l = &listeners{watches: make(map[*watch]struct{}), nodes: make(map[string]struct{})}
		h.names[name] = l
	}
	return h.addTo(l, name), len(l.nodes) > 0
}

// addTo adds a listener. h.mu is held.
func (h *hub) addTo(l *listeners, name string) *watch {
	w := &watch{hub: h, name: name, c: make(chan struct{}, 1)}
	l.watches[w] = struct{}{}
	return w
}

// armFirst watches the node that has a lock now, if one has, or all the leases of a semaphore.
func (h *hub) armFirst(name, folder string, kind driver.Kind) error {
	if kind == driver.Semaphore {
		_, err := h.armLeases(name, folder)
		return err
	}
	nodes, _, err := h.b.children(folder, h.b.layout.recipeFor(kind))
	if errors.Is(err, zk.ErrNoNode) || err == nil && len(nodes) == 0 {
		return nil // who is refused after that says by which node
	}
	if err == nil {
		_, err = h.arm(name, folder, nodes[0])
	}
	return err
}

// needs reports whether somebody listens, and a node is not watched yet.
func (h *hub) needs(name, node string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.names[name]
	if l == nil || len(l.watches) == 0 {
		return false
	}
	_, watched := l.nodes[node]
	return !watched
}

// arm watches a node. If it is gone already, who listens is told, and there is nothing to return.
func (h *hub) arm(name, folder, node string) (*watched, error) {
	seen, err := h.b.watchNode(&place{folder: folder}, node)
	switch {
	case err != nil:
		return nil, err
	case seen == nil:
		h.wakeName(name)
	case h.enterNode(name, node):
		h.b.spawn(func() { h.followNode(name, folder, node, seen.events) })
	}
	return seen, nil
}

// armLeases watches the leases of a semaphore, and returns which there are.
func (h *hub) armLeases(name, folder string) ([]string, error) {
	nodes, _, events, err := h.b.conn.library().ChildrenW(folder)
	if errors.Is(err, zk.ErrNoNode) {
		h.wakeName(name)
		return nil, nil
	}
	if err == nil && h.enterNode(name, leasesFolder) {
		h.b.spawn(func() { h.followNode(name, folder, leasesFolder, events) })
	}
	return nodes, lacking(mayRead, folder, err)
}

// enterNode enters that a node is watched, if somebody listens.
func (h *hub) enterNode(name, node string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.names[name]
	if l != nil {
		l.nodes[node] = struct{}{}
	}
	return l != nil
}

// followNode waits until a node that is watched is gone, and tells who listens.
func (h *hub) followNode(name, folder, node string, events <-chan zk.Event) {
	for {
		select {
		case e := <-events:
			if e.Type == zk.EventNodeDataChanged {
				if seen, err := h.b.watchNode(&place{folder: folder}, node); err == nil && seen != nil {
					events = seen.events
					continue
				}
			}
			h.disarm(name, node)
			return
		case <-h.b.background.Done():
			return
		}
	}
}

// disarm says that a node is watched no more, and tells who listens.
func (h *hub) disarm(name, node string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.names[name]
	if l == nil {
		return
	}
	delete(l.nodes, node)
	l.wakeAll()
	h.tidy(name, l)
}

// tidy forgets a name that nobody listens to, and nothing is watched for. h.mu is held.
func (h *hub) tidy(name string, l *listeners) {
	if len(l.watches) == 0 && len(l.nodes) == 0 {
		delete(h.names, name)
	}
}

// wakeName tells who listens to ask again.
func (h *hub) wakeName(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if l := h.names[name]; l != nil {
		l.wakeAll()
	}
}

// wakeEverybody tells everybody who listens: a release may have been missed.
func (h *hub) wakeEverybody() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, l := range h.names {
		l.wakeAll()
	}
}

// wakeAll leaves a signal for each listener, unless there is one. The hub's mu is held.
func (l *listeners) wakeAll() {
	for w := range l.watches {
		w.count.Add(1)
		select {
		case w.c <- struct{}{}:
		default:
		}
	}
}

// C implements [driver.Watch].
func (w *watch) C() <-chan struct{} { return w.c }

// Count implements [driver.Watch].
func (w *watch) Count() uint64 { return w.count.Load() }

// Close implements [driver.Watch].
func (w *watch) Close() {
	w.hub.mu.Lock()
	defer w.hub.mu.Unlock()
	l := w.hub.names[w.name]
	if l == nil {
		return
	}
	delete(l.watches, w)
	w.hub.tidy(w.name, l)
}
