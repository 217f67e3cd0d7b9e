package coord

import (
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
)

const (
	// probeTick is how often it is looked which targets may be tried again.
	probeTick = 250 * time.Millisecond
	// probesAtOnce bounds how many are tried in one tick. When more are down, their
	// probes are further apart, and the store has work to do besides.
	probesAtOnce = 64
)

// probeLanes tries targets that are down, each with one transaction that waits for
// it. It does so beside everything else: claims for many dead targets take their time.
func (c *Coordinator) probeLanes() {
	for c.pause(probeTick) {
		names := make(chan string, probesAtOnce)
		for _, name := range c.lanes.ripe(probesAtOnce) {
			names <- name
		}
		close(names)
		c.probeAll(names)
	}
}

func (c *Coordinator) probeAll(names <-chan string) {
	var all sync.WaitGroup
	for range min(len(names), c.opts.Claimers) {
		all.Go(func() {
			for name := range names {
				c.probe(name)
			}
		})
	}
	all.Wait()
}

// probe has one of those that wait for a target try it.
func (c *Coordinator) probe(name string) {
	n, _, err := c.claim(driver.Claim{Limit: 1, Target: name})
	if err == nil {
		c.lanes.looked(name, n > 0)
	}
}
