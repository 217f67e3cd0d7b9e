package lock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/lock/internal/outcome"
)

// Stop ends the client: waiting Locks fail with [ErrClosed], the context of
// every lease ends with that cause, and what is held is released. It waits until
// nothing of the client is left running or ctx ends, and reports what it could
// not release: what was held, and what an earlier Unlock or Lock had left to be released
// in the background, if that was still under way; of what the backend had refused to release
// before, Unlock or the log has told. The client or connection given to the backend stays open.
//
// The first Stop decides how long is tried to release, and reports; others only wait.
func (c *Client) Stop(ctx context.Context) error {
	if ctx == nil {
		return errNilContext()
	}
	first := false
	c.closing.Do(func() { first = true })
	if !first {
		return c.awaitEnd(ctx)
	}
	close(c.closed)
	err := c.releaseAll(ctx, c.queues.close())
	go c.endWork()
	defer context.AfterFunc(ctx, c.stop)() // what is still under way ends then
	ended := c.awaitEnd(ctx)
	return errors.Join(err, ended, c.unreleased.describe())
}

// endWork closes the backend when everything that the client has under way has
// ended, or is broken off.
func (c *Client) endWork() {
	defer close(c.ended)
	idle := make(chan struct{})
	go func() {
		defer close(idle)
		c.work.Wait()
	}()
	select {
	case <-idle:
	case <-c.background.Done():
	}
	c.renewer.close()
	c.stop()
	c.failure = c.backend.Close()
	<-idle
}

// stopGrace is how long a client whose Stop is over may take to end before it goes
// on in the background.
const stopGrace = 50 * time.Millisecond

// awaitEnd waits until nothing of the client is left. A backend may take longer to
// close than ctx allows: its servers need not answer.
func (c *Client) awaitEnd(ctx context.Context) error {
	select {
	case <-c.ended:
		return c.failure
	case <-ctx.Done():
	}
	select {
	case <-c.ended:
	case <-time.After(stopGrace):
	}
	return fmt.Errorf("lock: stop: %w", outcome.ContextError(ctx))
}

// placeTime is how long a release may keep others waiting. What takes longer goes on beside them:
// the server of a few may have died, and those of the others be well.
const placeTime = 100 * time.Millisecond

// releaseAll releases what was held when the client was stopped, a few at a time.
// When ctx ends, the rest is left to run out by itself.
func (c *Client) releaseAll(ctx context.Context, held []*hold) error {
	var (
		group sync.WaitGroup
		mu    sync.Mutex
		errs  []error
		slots = make(chan struct{}, 32)
	)
	ctx, cancel := releaseContext(ctx)
	defer cancel()
	for _, h := range held {
		slots <- struct{}{}
		group.Go(func() {
			leave := sync.OnceFunc(func() { <-slots })
			defer leave()
			defer time.AfterFunc(placeTime, leave).Stop()
			if err := h.relinquish(ctx); err != nil && !errors.Is(err, ErrLost) {
				mu.Lock()
				errs = append(errs, err)
				mu.Unlock()
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}
