// Package sleep waits for a time that a context may cut short.
package sleep

import (
	"context"
	"time"
)

// For waits for d. It reports whether to go on: false when ctx has ended.
func For(ctx context.Context, d time.Duration) bool { return ForBoth(ctx, ctx, d) }

// ForBoth waits for d. It reports whether to go on: false when one of the contexts has
// ended.
func ForBoth(ctx, other context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err() == nil && other.Err() == nil // both may have come at once
	case <-ctx.Done():
	case <-other.Done():
	}
	return false
}
