package coord

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// drains lists targets that are up again, and for which transactions wait in the
// store.
type drains struct {
	mu    *sync.Mutex
	names map[string]bool
	some  chan struct{}
}

func newDrains() drains {
	return drains{mu: new(sync.Mutex), names: make(map[string]bool), some: make(chan struct{}, 1)}
}

func (d drains) add(name string) {
	d.mu.Lock()
	d.names[name] = true
	d.mu.Unlock()
	select {
	case d.some <- struct{}{}:
	default:
	}
}

// take empties the list, in an order that is the same whenever a run is repeated.
func (d drains) take() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	names := slices.Sorted(maps.Keys(d.names))
	clear(d.names)
	return names
}

// drainLanes fetches what waited for targets that are up again.
func (c *Coordinator) drainLanes() {
	for {
		select {
		case <-c.drains.some:
			for _, name := range c.drains.take() {
				c.drain(name)
			}
		case <-c.life.Done():
			return
		}
	}
}

// drain fetches what waits for one target, as fast as there is room.
func (c *Coordinator) drain(name string) {
	for c.life.Err() == nil && !c.lanes.isDown(name) {
		if c.active.room() == 0 {
			c.pause(time.Millisecond)
			continue
		}
		if n, _ := c.claim(driver.Claim{Limit: claimBatch, Target: name}); n == 0 {
			return
		}
	}
}
