package history

import (
	"context"
	"time"
)

const (
	pulse = 5 * time.Millisecond
	// LeastStall is the shortest time without the processor that is written down.
	LeastStall = 20 * time.Millisecond
)

// Stalls tells of the times in which this process did not run: because it was stopped,
// or because the machine had no time for it. What was late by then is not its fault.
func Stalls(ctx context.Context, tell func(from, to time.Duration)) {
	tick := time.NewTicker(pulse)
	defer tick.Stop()
	last := Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := Now()
		if now-last > LeastStall+pulse {
			tell(last, now)
		}
		last = now
	}
}
