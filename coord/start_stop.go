package coord

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/txn"
)

// Start reads the store's clock and begins to take over what is due. Called again it
// reads the clock anew, and begins nothing twice. After Stop it returns
// [txn.ErrClosed].
func (c *Coordinator) Start(ctx context.Context) error {
	if err := checkContext(ctx); err != nil {
		return err
	}
	if c.life.Err() != nil {
		return txn.ErrClosed
	}
	asked := time.Now()
	now, err := c.store.Now(ctx)
	if err != nil {
		return fmt.Errorf("start coordinator: %w", err)
	}
	c.clock.adjust(now, asked)
	c.started.Do(func() {
		c.opts.Logger.Info("coordinator has started", "owner", c.owner)
		c.work.Go(c.recoverDue)
		c.work.Go(c.probeLanes)
		for range c.opts.Claimers {
			c.work.Go(c.drainLanes)
		}
		if c.opts.Retention.Keep > 0 {
			c.work.Go(c.removeOutdated)
		}
	})
	return nil
}

// Stop hands over what is under way, so that other coordinators can take it up at once.
// Calls to participants are broken off; a function that ignores that for a second is not
// waited for any more. If ctx ends first Stop returns an error, and the leases of what is
// left run out by themselves.
func (c *Coordinator) Stop(ctx context.Context) error {
	if err := checkContext(ctx); err != nil {
		return err
	}
	if c.life.Err() == nil {
		c.opts.Logger.Info("coordinator stops; others take up what it drives", "owner", c.owner, "transactions",
			c.active.len())
	}
	c.stop()
	done := make(chan struct{})
	go func() {
		c.active.close()
		c.work.Wait()
		c.waitLastCalls()
		c.lanes.End()
		c.views.close()
		close(done)
	}()
	select {
	case <-done:
		c.giveUp()
		return nil
	case <-ctx.Done():
		c.giveUp()
		return fmt.Errorf("stop coordinator: %w", ctx.Err())
	}
}

// waitLastCalls waits for broken-off calls that no run waits for any more, because it was
// overtaken or gave them up: the caller of Stop is about to close what they use.
func (c *Coordinator) waitLastCalls() {
	ended := make(chan struct{})
	go func() {
		c.calling.Wait()
		close(ended)
	}()
	patience := time.NewTimer(grace)
	defer patience.Stop()
	select {
	case <-ended:
	case <-patience.C:
	}
}

// checkContext refuses a context that is nil, with which others would panic.
func checkContext(ctx context.Context) error {
	if ctx == nil {
		return &input.Error{Field: "ctx", Problem: "is nil"}
	}
	return nil
}

// checkRunning refuses work before Start and after Stop, and without a context.
func (c *Coordinator) checkRunning(ctx context.Context) error {
	switch {
	case ctx == nil:
		return checkContext(ctx)
	case c.life.Err() != nil:
		return txn.ErrClosed
	case c.clock.reading.Load() == nil:
		return errors.New("coordinator is not started")
	default:
		return nil
	}
}
