package coord

import (
	"time"

	"github.com/bedrock-go/bedrock/internal/sleep"
)

const (
	// storeTimeout bounds one call to the store. What became of a write is found out then.
	storeTimeout = 5 * time.Second
	firstWait    = 20 * time.Millisecond
	longestWait  = time.Second
)

func longer(wait time.Duration) time.Duration { return min(2*wait, longestWait) }

// sleepAlive sleeps unless the coordinator stops; it reports whether it may go on.
func (c *Coordinator) sleepAlive(d time.Duration) bool { return sleep.For(c.life, d) }

// jitter spreads a pause over three quarters to the whole of d, so that replicas
// do not ask the store in step.
func (c *Coordinator) jitter(d time.Duration) time.Duration { return d*3/4 + c.draw(d/4+1) }
