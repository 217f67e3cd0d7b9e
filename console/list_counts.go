package console

import (
	"context"
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// countsFresh is how long numbers are shown again before they are asked for anew:
// counting may be work for a store, and every open page asks.
const countsFresh = 2 * time.Second

// counts remembers how many transactions there are.
type counts struct {
	counter driver.Counter

	turn  chan struct{} // has an element while somebody uses what follows
	asked time.Time
	last  *driver.Counts
}

func newCounts(counter driver.Counter) *counts {
	return &counts{counter: counter, turn: make(chan struct{}, 1)}
}

// get returns the numbers, nil when there are none: a list is worth showing without
// them. While the store counts for one page others wait for that, and no longer than they
// would for a store.
func (c *counts) get(ctx context.Context) *driver.Counts {
	if c.counter == nil {
		return nil
	}
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return nil
	}
	if time.Since(c.asked) < countsFresh {
		return c.last
	}
	found, err := c.counter.Count(ctx)
	switch {
	case err == nil:
		c.last = &found
	case ctx.Err() != nil: // this page was left, and others may have more time
		return nil
	default:
		c.last = nil
	}
	c.asked = time.Now()
	return c.last
}
