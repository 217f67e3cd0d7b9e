package sqlstore

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/bedrock-go/bedrock/internal/sleep"
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
		if err == nil || n == repeats || !isUnwritten(err) || !s.verdictOn(err).Collided() {
			return err
		}
		if !sleep.For(ctx, pause/2+rand.N(pause)) {
			return err
		}
		pause *= 2
	}
}
