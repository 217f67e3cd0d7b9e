package redislock

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// watch is one listener for the releases of a name.
type watch struct {
	topic  *topic
	ofTurn bool // of one who waits, not of all
	c      chan struct{}
	count  atomic.Uint64
}

// Watch implements [driver.Waiter]. It returns once the server has confirmed
// the subscription.
func (b *backend) Watch(ctx context.Context, name string, kind driver.Kind) (driver.Watch, error) {
	sharded, err := b.pubsub.sharded(ctx, b)
	if err != nil {
		return nil, describe("watch", name, err)
	}
	if kind == driver.Latch {
		if err := b.checkCountdown(name); err != nil {
			return nil, describe("watch", name, err)
		}
	}
	w, err := b.hub.watchChannel(ctx, b.heardOn(name, kind, sharded), sharded)
	if err != nil {
		return nil, describe("watch", name, err)
	}
	return w, nil
}

// Resume implements [driver.Resumer].
func (b *backend) Resume(name string, kind driver.Kind) driver.Watch {
	if b.hub.heard.Load() == 0 {
		return nil
	}
	sharded, _ := b.pubsub.known(b)
	if w := b.hub.resume(b.heardOn(name, kind, sharded)); w != nil {
		return w
	}
	return nil
}

// repeated is for Redisson alone: what it is about was said by the message before. See scripts/tell.lua.
const repeated = "00"

// hear implements ear. Whatever else it says, somebody has released.
func (w *watch) hear(_ *topic, text string) {
	if text != repeated {
		w.signal()
	}
}

// miss implements ear.
func (w *watch) miss() { w.signal() }

// C implements [driver.Watch].
func (w *watch) C() <-chan struct{} { return w.c }

// Close implements [driver.Watch].
func (w *watch) Close() { w.topic.drop(w) }

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

// errClosed says that the backend was closed.
var errClosed = fmt.Errorf("redislock: %w: the backend is closed", driver.ErrRefused)
