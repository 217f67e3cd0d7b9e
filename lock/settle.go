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
// or that may still be on its way. Nobody asks under that owner any more.
func (c *Client) settle(g driver.Grant, d *doubt) {
	c.work.Go(func() { c.settleNow(g, d) })
}

// settleNow releases at once, for the grant may be there; and again when the
// requests have ended, for it may have come since. It ends when the store has
// answered that often as the doubt demands, or when the grant must have run out.
func (c *Client) settleNow(g driver.Grant, d *doubt) {
	answers, pause, end := d.answersNeeded(), settlePause, never
	for {
		ended := d.ended()
		if ended && end == never {
			end = c.now() + g.TTL + settleExtra
		}
		err := c.releaseOnce(g)
		switch answered := err == nil || errors.Is(err, driver.ErrLost); {
		case answered && !ended:
			if !d.wait(c.background) {
				return
			}
			continue
		case answered:
			if answers--; answers == 0 {
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
		if pause = min(pause*2, settleLimit); c.now() >= end {
			c.opts.Logger.Warn("lock: clean-up given up, the lock has run out", "name", g.Name, "owner", g.Owner)
			return
		}
	}
}

// answersNeeded is how many releases the store must have answered after the end of
// the requests. One does if all of them had been answered; else a copy may be on
// its way in the network still, or lie in front of a server that was frozen.
func (d *doubt) answersNeeded() int {
	if d == nil {
		return 1
	}
	return 2
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
