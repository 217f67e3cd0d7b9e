package lock

import (
	"time"

	"github.com/bedrock-go/bedrock/internal/settle"
	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// releaseUnknown makes sure, in the background, that the owner of a grant nobody wants
// does not keep others out. Nobody asks under that owner any more.
func (c *Client) releaseUnknown(g driver.Grant, d *settle.Doubt) {
	s := settle.Settler{Backend: c.backend, Log: c.opts.Logger, Now: c.now}
	c.work.Go(func() { s.Settle(c.background, g, d) })
}

// sleep waits in the background. It reports false when the client ends.
func (c *Client) sleep(d time.Duration) bool { return sleep.For(c.background, d) }
