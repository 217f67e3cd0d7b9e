// Package asking asks a store about the ticket of a request that comes to a service.
package asking

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/bedrock-go/bedrock/lock/guard"
)

// DefaultTimeout is shorter than most callers wait: they learn that nothing was done.
const DefaultTimeout = 5 * time.Second

// Asking asks a store.
type Asking struct {
	// Guard is the package that asks.
	Guard string
	Store guard.Store
	// Timeout is for how long; 0 for the default, less for as long as the request lasts.
	Timeout time.Duration
	// Logger is told if the store does not say; nil for [slog.Default].
	Logger *slog.Logger
}

// Announce asks the store. A caller who has gone has ended that himself: that is no error of the store's.
func (a *Asking) Announce(ctx context.Context, ticket guard.Ticket) error {
	within, cancel := a.limit(ctx)
	defer cancel()
	err := a.Store.Announce(within, ticket)
	if err == nil || errors.Is(err, guard.ErrStale) {
		return err
	}
	level := slog.LevelError
	if ctx.Err() != nil {
		level = slog.LevelDebug
	}
	a.logger().Log(ctx, level, a.Guard+": the store does not say whether a token is stale", "error", err)
	return err
}

func (a *Asking) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	switch {
	case a.Timeout < 0:
		return ctx, func() {}
	case a.Timeout == 0:
		return context.WithTimeout(ctx, DefaultTimeout)
	default:
		return context.WithTimeout(ctx, a.Timeout)
	}
}

func (a *Asking) logger() *slog.Logger {
	if a.Logger == nil {
		return slog.Default()
	}
	return a.Logger
}
