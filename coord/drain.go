package coord

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// drains lists targets that have recovered, and for which transactions wait in the
// store. They take turns, so that a long backlog of one holds up no other.
type drains struct {
	mu    sync.Mutex
	names []string
	some  chan struct{}
}

func (d *drains) init() { d.some = make(chan struct{}, 1) }

func (d *drains) add(name string) {
	d.mu.Lock()
	if !slices.Contains(d.names, name) {
		d.names = append(d.names, name)
	}
	d.mu.Unlock()
	d.wake()
}

func (d *drains) wake() {
	select {
	case d.some <- struct{}{}:
	default:
	}
}

// take returns whose turn it is, and wakes somebody for the next.
func (d *drains) take() (name string, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.names) == 0 {
		return "", false
	}
	name = d.names[0]
	d.names = slices.Delete(d.names, 0, 1)
	if len(d.names) > 0 {
		d.wake()
	}
	return name, true
}

// drainLanes fetches what waited for targets that have recovered. Several do so side
// by side.
func (c *Coordinator) drainLanes() {
	for {
		select {
		case <-c.drains.some:
			if name, ok := c.drains.take(); ok && c.drain(name) {
				c.drains.add(name)
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

// drain fetches some of what waits for one target, as fast as there is room and the
// target keeps up. It tells whether there may be more. What is put back by those it
// has fetched does not wait for the target again, so it comes to an end.
func (c *Coordinator) drain(name string) bool {
	switch {
	case c.lanes.isDown(name):
		return false
	case c.lanes.crowded(name):
		return c.pause(drainPause)
	}
	n, _, err := c.claim(driver.Claim{Limit: claimBatch, Target: name})
	switch {
	case errors.Is(err, errNoRoom):
		return c.pause(drainPause)
	case err != nil:
		return c.pause(drainAgain)
	default:
		return n > 0
	}
}
