package zklock

import (
	"context"
	"fmt"
	"sync"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// opening is the time before the first session. Requests wait for that, and for no longer than it takes to find that no
// server is there: the library would keep them, for a session of which nobody knows how long it lasts.
type opening struct {
	over sync.Once
	done chan struct{} // is closed when there is a session

	mu    sync.Mutex
	round chan struct{} // is closed, and replaced, when no server has answered in a round
}

func newOpening() *opening { return &opening{done: make(chan struct{}), round: make(chan struct{})} }

// endOpening says that there is a session.
func (o *opening) endOpening() { o.over.Do(func() { close(o.done) }) }

// isOver reports whether there has been a session.
func (o *opening) isOver() bool {
	select {
	case <-o.done:
		return true
	default:
		return false
	}
}

// endRound says that all servers have been asked in vain.
func (o *opening) endRound() {
	o.mu.Lock()
	defer o.mu.Unlock()
	close(o.round)
	o.round = make(chan struct{})
}

// thisRound is closed when all servers have been asked in vain.
func (o *opening) thisRound() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.round
}

// awaitSession waits for the first session until ctx ends.
func (c *connection) awaitSession(ctx context.Context) error {
	select {
	case <-c.opening.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("connect to %v: %w: %w", c.addresses, c.unreached(), context.Cause(ctx))
	}
}

// awaitRound is awaitSession for a request. It ends with a round in vain: whoever wants to wait asks again.
func (c *connection) awaitRound(ctx context.Context) error {
	if c.opening.isOver() {
		return nil
	}
	select {
	case <-c.opening.done:
		return nil
	case <-c.opening.thisRound():
	case <-c.dialing.Done(): // it was closed
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", c.unreached(), ctx.Err())
	}
	return c.unreached()
}

// unreached says that no server has answered, and why not.
func (c *connection) unreached() error {
	return fmt.Errorf("%w: no server has answered%s", driver.ErrUnavailable, c.whyUnreached())
}

// whyUnreached is what is to be said of it in a sentence about no server.
func (c *connection) whyUnreached() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed == nil {
		return ""
	}
	return " (" + c.failed.Error() + ")"
}
