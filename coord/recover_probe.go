package coord

import (
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
)

const (
	// probeTick is the time between two looks for targets that may be tried again.
	probeTick = 250 * time.Millisecond
	// probesAtOnce bounds how many are tried in one tick. When more are down, their
	// probes are further apart, and the store has work to do besides.
	probesAtOnce = 64
)

// probeLanes tries targets that are down, each with one transaction that waits for it. It
// runs beside everything else, because claims for many dead targets take their time.
func (c *Coordinator) probeLanes() {
	for c.sleepAlive(probeTick) {
		names := make(chan string, probesAtOnce)
		for _, name := range c.lanes.DueForProbe(probesAtOnce) {
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

// probe fetches one of the transactions that wait for a target, to try it.
func (c *Coordinator) probe(name string) {
	n, _, err := c.claimSome(driver.Claim{Limit: 1, Target: name})
	if err == nil {
		c.lanes.ReportSearch(name, n > 0)
	}
}
