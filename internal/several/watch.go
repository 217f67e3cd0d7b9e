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

// watch is one listener, at all nodes that can be listened to.
type watch struct {
	stores  *Stores
	name    string
	watched *Watched
	c       chan struct{}
	closed  chan struct{}

	mu    sync.Mutex
	inner []driver.Watch // by node; nil of those not listened to
	began bool           // whoever listens relies on it: what begins later may have missed something
}

// Watch listens at all nodes. It returns when it does at so many that no release can be missed: the others join as
// they come. Where each node matters, it waits for those that are slow, too, but not for long.
func (s *Stores) Watch(ctx context.Context, name string, kind driver.Kind, least int) (driver.Watch, error) {
	w := &watch{
		stores: s, name: name, c: make(chan struct{}, 1), closed: make(chan struct{}),
		inner: make([]driver.Watch, len(s.Nodes)),
	}
	w.watched = s.enterWatch(w)
	answers := Gather(s, s.Nodes, nil, func(ctx context.Context, n *Node) error {
		err := w.listen(ctx, n, kind)
		if err != nil && !errors.Is(err, driver.ErrRefused) {
			s.work.Go(func() { w.listenLater(n, kind) })
		}
		return err
	})
	caller, limit := timelimit.Ends(ctx)
	var errs []error
	var late <-chan time.Time
	for begun := 0; !w.isEnough(begun, len(errs), least); {
		if late == nil && begun >= least {
			slow := time.NewTimer(s.rules.Listen)
			defer slow.Stop()
			late = slow.C
		}
		var ended error
		select {
		case <-late:
			w.noteBegin()
			return w, nil
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
			why := errors.Join(append(errs, ended)...)
			return nil, fmt.Errorf("listening at %d nodes, %d are needed: %w", begun, least, why)
		}
	}
	w.noteBegin()
	return w, nil
}

// isEnough reports whether no more nodes are waited for, when so many have begun to tell, and so many have failed to.
func (w *watch) isEnough(begun, failed, least int) bool {
	switch {
	case begun < least:
		return false
	case w.stores.rules.Listen == 0:
		return true
	}
	away := 0
	for _, n := range w.stores.Nodes {
		if n.IsAway() {
			away++
		}
	}
	return begun >= len(w.inner)-max(away, failed)
}

func (w *watch) noteBegin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.began = true
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
	if w.began {
		select {
		case w.c <- struct{}{}:
		default:
		}
	}
	w.stores.work.Go(func() { w.followNode(n, inner) })
	return nil
}

// listenLater begins to listen at a node where that has failed, as soon as it can.
func (w *watch) listenLater(n *Node, kind driver.Kind) {
	for {
		pause := time.NewTimer(listenAgain)
		select {
		case <-pause.C:
		case <-w.closed:
			pause.Stop()
			return
		case <-w.stores.background.Done():
			pause.Stop()
			return
		}
		if w.listen(w.stores.Limit.Present(w.stores.Now()), n, kind) == nil {
			return
		}
	}
}

// listenAgain is the pause between tries to listen at a node.
const listenAgain = time.Second

// followNode tells on what a node tells.
func (w *watch) followNode(n *Node, inner driver.Watch) {
	for {
		select {
		case <-inner.C():
			w.watched.hear(n)
		case <-w.closed:
			return
		case <-w.stores.background.Done():
			return
		}
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
	for _, inner := range w.inner {
		if inner != nil {
			inner.Close()
		}
	}
	w.stores.leaveWatch(w)
}
