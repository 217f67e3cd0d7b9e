package load

import (
	"context"
	"time"
)

// Pause waits for d, or as long as ctx lasts.
func Pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Until asks every so often until it is true, fails, or ctx ends.
func Until(ctx context.Context, every time.Duration, holds func() (bool, error)) error {
	for {
		if done, err := holds(); done || err != nil {
			return err
		}
		if err := Pause(ctx, every); err != nil {
			return err
		}
	}
}
