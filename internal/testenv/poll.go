package testenv

import (
	"context"
	"time"
)

// poll waits until a condition of servers holds that cannot be waited for
// otherwise, and looks every so often.
func poll(ctx context.Context, every time.Duration, holds func() bool) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}
