package sqlstore

import (
	"context"
	"math/rand/v2"
	"time"
)

// A transaction that met another is repeated a few times, after pauses that grow
// from the first to about a second in all.
const (
	repeats    = 6
	firstPause = 5 * time.Millisecond
)

// repeat runs fn again when its transaction collided with another.
func (s *Store) repeat(ctx context.Context, fn func() error) error {
	pause := firstPause
	for n := 0; ; n++ {
		err := fn()
		if err == nil || n == repeats || !isUnwritten(err) || s.judge(err) != Collided {
			return err
		}
		if !rest(ctx, pause/2+rand.N(pause)) {
			return err
		}
		pause *= 2
	}
}

// rest pauses, and tells whether it was left to.
func rest(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
