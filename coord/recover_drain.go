package coord

import (
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/coord/internal/lanes"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// targetChanged reports a target that goes down or comes back, and lists one that has
// recovered to be drained.
func (c *Coordinator) targetChanged(name string, change lanes.Change) {
	switch {
	case change.Opened:
		c.opts.Logger.Warn("target is down; its calls are held back", "target", name)
		c.observe(Event{Kind: EventBreakerOpened, Target: txn.Target(name)})
	case change.Closed:
		c.opts.Logger.Info("target is up again", "target", name)
		c.observe(Event{Kind: EventBreakerClosed, Target: txn.Target(name)})
	case change.Forgotten:
		c.opts.Logger.Info("nothing waits any more for a target that was down", "target", name)
		c.observe(Event{Kind: EventBreakerClosed, Target: txn.Target(name), Reason: "nothing waits for it"})
	case change.Ended:
		c.observe(Event{Kind: EventBreakerClosed, Target: txn.Target(name), Reason: "the coordinator has stopped"})
	}
	if change.Recovered {
		c.drains.Add(name)
	}
}

// drainLanes fetches what waited for targets that have recovered. Several goroutines do so
// side by side.
func (c *Coordinator) drainLanes() {
	for {
		select {
		case <-c.drains.Some():
			if name, ok := c.drains.Take(); ok && c.drain(name) {
				c.drains.Add(name)
			}
		case <-c.life.Done():
			return
		}
	}
}

const (
	drainPause = time.Millisecond       // until there is room again
	drainAgain = 250 * time.Millisecond // after the store did not answer
)

// drain fetches some of what waits for one target, as fast as there is room and the target
// keeps up. It reports whether there may be more. A transaction that was fetched and has
// failed again does not wait for the target a second time, so a drain comes to an end.
func (c *Coordinator) drain(name string) bool {
	switch {
	case c.lanes.IsDown(name):
		return false
	case c.lanes.IsCrowded(name):
		return c.sleepAlive(drainPause)
	}
	n, _, err := c.claimSome(driver.Claim{Limit: claimBatch, Target: name})
	switch {
	case errors.Is(err, errNoRoom):
		return c.sleepAlive(drainPause)
	case err != nil:
		return c.sleepAlive(drainAgain)
	default:
		return n > 0
	}
}
