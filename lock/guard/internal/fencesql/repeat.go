package fencesql

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/internal/sqlkind"
)

// deadlockTries bounds how often a transaction of the guard's own is made again that the database has rolled back for
// the sake of others.
const deadlockTries = 8

// RepeatDeadlocked makes a transaction again after a deadlock or a serialization failure, a while later so that
// the others go first.
func RepeatDeadlocked(ctx context.Context, kind sqlkind.Kind, transaction func() error) error {
	for try := 1; ; try++ {
		err := transaction()
		if try == deadlockTries || kind.Classify(err) != sqlkind.Deadlocked {
			return err
		}
		if !sleep.For(ctx, rand.N(time.Duration(try)*5*time.Millisecond)) {
			return context.Cause(ctx)
		}
	}
}
