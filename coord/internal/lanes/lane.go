package lanes

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// Lane is the way to one target: a bounded number of calls, and a breaker.
type Lane struct {
	name    string
	slots   chan struct{}
	host    chan struct{} // nil for functions
	calls   atomic.Int64  // that have a slot, or wait for one
	breaker breaker
}

// ErrDown says that the breaker is open, or opened while a call waited for its slot.
var ErrDown = errors.New("target is down")

// Acquire waits for a slot on the lane and its host. It returns ErrDown when the breaker
// opens meanwhile. A caller whose context is over gets none, though one may be free.
func (l *Lane) Acquire(ctx context.Context) error {
	l.calls.Add(1)
	if err := l.acquireSlot(ctx, l.slots); err != nil {
		l.calls.Add(-1)
		return err
	}
	if err := l.acquireSlot(ctx, l.host); err != nil {
		l.calls.Add(-1)
		<-l.slots
		return err
	}
	return nil
}

// Release gives the slots back. Whoever gets them counts as served from then on, and not
// only when it runs: chance must not say whether the lane is crowded.
func (l *Lane) Release() {
	l.calls.Add(-1)
	<-l.slots
	if l.host != nil {
		<-l.host
	}
}

func (l *Lane) acquireSlot(ctx context.Context, slots chan struct{}) error {
	if slots == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	select {
	case slots <- struct{}{}:
		return nil
	default:
		return l.waitForSlot(ctx, slots)
	}
}

// waitForSlot waits for a slot, for as long as the target is taken for up.
func (l *Lane) waitForSlot(ctx context.Context, slots chan struct{}) error {
	open, opens := l.breaker.whenOpen()
	if open {
		return ErrDown
	}
	select {
	case slots <- struct{}{}:
		return nil
	case <-opens:
		return ErrDown
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Name tells the lane from others, in a form that every store keeps.
func (l *Lane) Name() string { return l.name }

// Standing is how the breaker stands for a call that is about to be made.
func (l *Lane) Standing() Standing { return l.breaker.standing(time.Now()) }

// Admit reports whether the breaker lets a call through, which is given up after the limit.
func (l *Lane) Admit(limit time.Duration) (Pass, bool) { return l.breaker.admit(time.Now(), limit) }

// IsDown reports whether the breaker is open.
func (l *Lane) IsDown() bool { return l.breaker.isOpen() }

// Recoveries is how often the target has recovered.
func (l *Lane) Recoveries() int { return l.breaker.countRecoveries() }
