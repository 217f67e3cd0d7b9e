package barrier

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/bedrock-go/bedrock/internal/sleep"
)

// pauseAfterDeadlock lets the others go first after a deadlock, so that they do not meet again.
func pauseAfterDeadlock(ctx context.Context, try int) error {
	if !sleep.For(ctx, rand.N(time.Duration(try)*5*time.Millisecond)) {
		return context.Cause(ctx)
	}
	return nil
}
