package several

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/internal/timelimit"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// straggle is how long the rest of a release is waited for that some nodes have told of.
const straggle = 5 * time.Millisecond

// Watched is what those who wait for a name here know of it together.
type Watched struct {
	watches int

	mu    sync.Mutex
	first string        // who has the first node, as it was told last
	since time.Duration // since when
	whole bool          // that one has the lock, as the others said
}

// WatchedName returns what is known of a name that somebody waits for here; nil if nobody does.
func (s *Stores) WatchedName(name string) *Watched {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.watched[name]
}

// Refused records who has the first node. It reports for how long that has been the same one, and whether that
// one has the lock for certain.
func (w *Watched) Refused(owner string, now time.Duration) (same time.Duration, whole bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.first != owner {
		w.first, w.since, w.whole = owner, now, false
	}
	return now - w.since, w.whole
}

// Learned records who has the lock, as most nodes say; nobody for certain if it is empty.
func (w *Watched) Learned(holder string, now time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.since = now
	w.whole = holder != "" && holder == w.first
}

// watch is one listener, at all nodes that can be listened to.
type watch struct {
	stores *Stores
	name   string
	c      chan struct{}
	closed chan struct{}

	mu    sync.Mutex
	inner []driver.Watch // by node; nil of those not listened to
	told  []bool         // of a release, since it was told on
	late  *time.Timer    // tells on what is not complete; nil while nothing was told
}

// Watch listens at all nodes. It returns when it does at so many that no release can be missed: the others join as they come.
func (s *Stores) Watch(ctx context.Context, name string, kind driver.Kind, least int) (driver.Watch, error) {
	w := &watch{
		stores: s, name: name, c: make(chan struct{}, 1), closed: make(chan struct{}),
		inner: make([]driver.Watch, len(s.Nodes)), told: make([]bool, len(s.Nodes)),
	}
	s.enterWatch(name)
	answers := Gather(s, s.Nodes, nil, func(ctx context.Context, n *Node) error { return w.listen(ctx, n, kind) })
	caller, limit := timelimit.Ends(ctx)
	var errs []error
	for begun := 0; begun < least; {
		var ended error
		select {
		case a := <-answers.C:
			if a.Value == nil {
				begun++
			} else {
				errs = append(errs, a.Value)
			}
		case <-caller:
			ended = ctx.Err()
		case <-limit:
			ended = ctx.Err()
		}
		if ended != nil || len(s.Nodes)-len(errs) < least {
			w.Close()
			return nil, fmt.Errorf("listening at %d nodes, %d are needed: %w", begun, least, errors.Join(append(errs, ended)...))
		}
	}
	return w, nil
}

// listen begins to listen at a node.
func (w *watch) listen(ctx context.Context, n *Node, kind driver.Kind) error {
	waiter, ok := n.Backend.(driver.Waiter)
	if !ok {
		return fmt.Errorf("node %d: %w: telling of releases", n.Number(), driver.ErrUnsupported)
	}
	inner, err := waiter.Watch(ctx, w.name, kind)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.closed:
		inner.Close()
		return driver.ErrUnavailable
	default:
	}
	w.inner[n.index] = inner
	w.stores.work.Go(func() { w.follow(n, inner) })
	return nil
}

// follow tells on what a node tells.
func (w *watch) follow(n *Node, inner driver.Watch) {
	for {
		select {
		case <-inner.C():
			w.hear(n)
		case <-w.closed:
			return
		}
	}
}

// hear tells on a release once enough nodes have told of it, or a little later.
func (w *watch) hear(n *Node) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told[n.index] = true
	switch {
	case w.stores.rules.Complete(w.told):
		w.tell()
	case w.late == nil:
		w.late = time.AfterFunc(straggle, func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.tell()
		})
	}
}

// tell tells on. w.mu is held.
func (w *watch) tell() {
	if !slices.Contains(w.told, true) {
		return // it was told on meanwhile
	}
	clear(w.told)
	if w.late != nil {
		w.late.Stop()
		w.late = nil
	}
	select {
	case w.c <- struct{}{}:
	default:
	}
}

// C implements [driver.Watch].
func (w *watch) C() <-chan struct{} { return w.c }

// Count implements [driver.Watch]: releases that as many nodes have told of as keep others out.
func (w *watch) Count() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	counts := make([]uint64, len(w.inner))
	for i, inner := range w.inner {
		if inner != nil {
			counts[i] = inner.Count()
		}
	}
	slices.Sort(counts)
	return counts[len(counts)-w.stores.rules.Keep]
}

// Close implements [driver.Watch].
func (w *watch) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.closed:
		return
	default:
	}
	close(w.closed)
	if w.late != nil {
		w.late.Stop()
	}
	for _, inner := range w.inner {
		if inner != nil {
			inner.Close()
		}
	}
	w.stores.leaveWatch(w.name)
}

func (s *Stores) enterWatch(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watched[name] == nil {
		s.watched[name] = &Watched{}
	}
	s.watched[name].watches++
}

func (s *Stores) leaveWatch(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watched[name].watches--; s.watched[name].watches == 0 {
		delete(s.watched, name)
	}
}
