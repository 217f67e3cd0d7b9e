package lock

import (
	"context"
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// How an unknown outcome is settled.
const (
	settleCall  = 5 * time.Second        // the longest one release may take
	settlePause = 50 * time.Millisecond  // between releases, growing
	settleLimit = 500 * time.Millisecond // up to this
	settleExtra = 2 * time.Second        // beyond the grant's own life
)

// settle makes sure, in the background, that the owner of a grant nobody wants
// does not keep others out: a request whose answer was lost, that was given up,
// or that may still be on its way. It ends when the grant was found and
// released, when it was twice not found, or when it must have run out by itself.
func (c *Client) settle(g driver.Grant) {
	c.work.Go(func() { c.settleNow(g) })
}

func (c *Client) settleNow(g driver.Grant) {
	misses, pause := 0, settlePause
	for end := c.now() + g.TTL + settleExtra; c.now() < end; pause = min(pause*2, settleLimit) {
		switch err := c.releaseOnce(g); {
		case err == nil:
			return
		case errors.Is(err, driver.ErrLost):
			if misses++; misses == 2 {
				return
			}
			pause = settlePause
		case errors.Is(err, driver.ErrRefused):
			c.opts.Logger.Warn("lock: clean-up refused, the lock ends by itself", "name", g.Name, "owner", g.Owner, "err", err)
			return
		}
		if !c.sleep(pause) {
			return
		}
	}
	c.opts.Logger.Warn("lock: clean-up given up, the lock has run out", "name", g.Name, "owner", g.Owner)
}

func (c *Client) releaseOnce(g driver.Grant) error {
	ctx, cancel := context.WithTimeout(c.background, settleCall)
	defer cancel()
	_, err := c.backend.Release(ctx, g)
	return err
}

// sleep waits in the background. It reports false when the client ends.
func (c *Client) sleep(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-c.background.Done():
		return false
	}
}
