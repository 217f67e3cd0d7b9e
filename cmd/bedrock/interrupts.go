package main

import (
	"context"
	"os/signal"

	"github.com/bedrock-go/bedrock/internal/child"
)

// untilInterrupted returns a context that ends at the first signal that means
// the program should end. Signals that it was told to ignore stay ignored.
func untilInterrupted(ctx context.Context) (context.Context, context.CancelFunc) {
	signals := child.Ending()
	if len(signals) == 0 {
		return context.WithCancel(ctx) // to ask for no signal would mean all of them
	}
	return signal.NotifyContext(ctx, signals...)
}
