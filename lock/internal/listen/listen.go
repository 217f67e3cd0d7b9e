// Package listen hears what a client's backend tells of a name, for the packages that make something of it beside
// locks. Listening begins in the background: whoever needs to know looks meanwhile.
package listen

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/internal/attempt"
)

const (
	watchTime  = 5 * time.Second // the longest a watch may take to begin
	watchRetry = 5 * time.Second // after a watch could not be had
)

// Ear hears of one name. It is not safe for concurrent use.
type Ear struct {
	locks  *lock.Client
	c      chan struct{}
	hears  atomic.Bool
	cancel context.CancelFunc
	ended  chan struct{}
}

// Start begins to listen for what is told of a name of that kind. An ear of a backend that tells nothing hears nothing.
func Start(locks *lock.Client, name string, kind driver.Kind) *Ear {
	ctx, cancel := context.WithCancel(context.Background())
	e := &Ear{locks: locks, c: make(chan struct{}, 1), cancel: cancel, ended: make(chan struct{})}
	backend, ok := locks.Backend().(driver.Waiter)
	if !ok {
		close(e.ended)
		return e
	}
	go func() {
		defer close(e.ended)
		if w := e.beginWatch(ctx, func(ctx context.Context) (driver.Watch, error) {
			return backend.Watch(ctx, name, kind)
		}); w != nil {
			e.passSignals(ctx, w)
		}
	}()
	return e
}

// C receives when listening has begun, since what has happened before was not heard, and whenever something is told.
func (e *Ear) C() <-chan struct{} { return e.c }

// Hears reports whether listening has begun.
func (e *Ear) Hears() bool { return e.hears.Load() }

// Close stops listening, and returns when nothing is left of it.
func (e *Ear) Close() {
	e.cancel()
	<-e.ended
}

// beginWatch tries until there is a watch. It returns nil if there will be none.
func (e *Ear) beginWatch(
	ctx context.Context, watch func(ctx context.Context) (driver.Watch, error),
) driver.Watch {
	for {
		w, failure := attempt.Once(ctx, e.locks, watchTime, watch)
		switch {
		case failure == nil:
			return w
		case errors.Is(failure.Err, driver.ErrUnsupported):
			return nil
		case attempt.Pause(ctx, e.locks, watchRetry, nil) != nil:
			return nil
		}
	}
}

// passSignals passes on what the watch tells until the ear is closed, or the client is stopped.
func (e *Ear) passSignals(ctx context.Context, w driver.Watch) {
	defer w.Close()
	e.hears.Store(true)
	for {
		select {
		case e.c <- struct{}{}:
		default:
		}
		select {
		case <-w.C():
		case <-ctx.Done():
			return
		case <-e.locks.Done():
			return
		}
	}
}
