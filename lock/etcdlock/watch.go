package etcdlock

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// watch is one listener for the releases of a name, or for somebody's turn.
type watch struct {
	line  *line
	kind  driver.Kind
	owner string // whose turn it listens for; empty for releases
	c     chan struct{}
	count atomic.Uint64
}

// Watch implements [driver.Waiter]. It returns when the line has been read: whatever happens from then on is told.
func (b *backend) Watch(ctx context.Context, name string, kind driver.Kind) (driver.Watch, error) {
	if kind != driver.Mutex && b.layout.raw {
		return nil, describe("watch", name, fmt.Errorf("%w: a %s", driver.ErrUnsupported, kind))
	}
	return b.startWatch(ctx, name, kind, "")
}

// WatchTurn implements [driver.TurnWaiter].
func (b *backend) WatchTurn(ctx context.Context, name, owner string) (driver.Watch, error) {
	return b.startWatch(ctx, name, driver.Mutex, owner)
}

// startWatch listens for releases, or for the turn of an owner.
func (b *backend) startWatch(ctx context.Context, name string, kind driver.Kind, owner string) (driver.Watch, error) {
	for {
		l := b.followLine(name)
		if l == nil {
			return nil, describe("watch", name, errClosed)
		}
		w := l.addWatch(kind, owner)
		if w == nil {
			continue // it has ended at this moment
		}
		select {
		case <-l.listed:
		case <-ctx.Done():
			w.Close()
			return nil, describe("watch", name, context.Cause(ctx))
		}
		if err := l.whyNot(); err != nil {
			w.Close()
			return nil, describe("watch", name, err)
		}
		return w, nil
	}
}

// addWatch adds a listener, nil if the line is over.
func (l *line) addWatch(kind driver.Kind, owner string) *watch {
	w := &watch{line: l, kind: kind, owner: owner, c: make(chan struct{}, 1)}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return nil
	}
	l.watches[w] = struct{}{}
	return w
}

// whyNot returns why the line cannot be read.
func (l *line) whyNot() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failure
}

// Resume implements [driver.Resumer].
func (b *backend) Resume(name string, kind driver.Kind) driver.Watch {
	l := b.followed(name)
	if l == nil || kind != driver.Mutex && b.layout.raw || !l.isCurrent() {
		return nil
	}
	if w := l.addWatch(kind, ""); w != nil {
		return w
	}
	return nil
}

// isCurrent reports whether the copy of a line changes with the store's.
func (l *line) isCurrent() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.current
}

// C implements [driver.Watch].
func (w *watch) C() <-chan struct{} { return w.c }

// Count implements [driver.Watch].
func (w *watch) Count() uint64 { return w.count.Load() }

// Close implements [driver.Watch].
func (w *watch) Close() {
	w.line.mu.Lock()
	defer w.line.mu.Unlock()
	delete(w.line.watches, w)
}

// leaveSignal counts, and leaves a signal unless there is one already.
func (w *watch) leaveSignal() {
	w.count.Add(1)
	select {
	case w.c <- struct{}{}:
	default:
	}
}
