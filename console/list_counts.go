package console

import (
	"context"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// countsFresh is how long numbers are shown again before they are asked for anew:
// counting may be work for a store, and every open page asks.
const countsFresh = 2 * time.Second

// counts remembers how many transactions there are.
type counts struct {
	counter driver.Counter

	mu    sync.Mutex
	asked time.Time
	last  *driver.Counts
}

// get returns the numbers, nil when there are none: a list is worth showing without
// them.
func (c *counts) get(ctx context.Context) *driver.Counts {
	if c.counter == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.asked) < countsFresh {
		return c.last
	}
	c.last = nil
	if found, err := c.counter.Count(ctx); err == nil {
		c.last = &found
	}
	c.asked = time.Now()
	return c.last
}
