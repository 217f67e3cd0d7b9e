package guard

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"

	"github.com/bedrock-go/bedrock/lock"
)

// Store remembers the newest token of each name. [Memory] is one, and so are the guards of the packages sqlguard,
// pgxguard and redisguard.
type Store interface {
	// Announce remembers a token unless a newer one is known, and returns a [*StaleError] then. When it
	// returns nil nobody is let in any more who shows an older one.
	Announce(ctx context.Context, t Ticket) error
}

// Observed tells an observer of an error that is a refusal, and returns the error. It is for those who make a [Store]:
// a token that is refused is a double holding that was found out, so somebody should count it. The observer
// may be nil; if it panics, [slog.Default] is told.
func Observed(ctx context.Context, o lock.Observer, err error) error {
	stale, ok := errors.AsType[*StaleError](err)
	if !ok || o == nil {
		return err
	}
	defer func() {
		if cause := recover(); cause != nil {
			slog.ErrorContext(ctx, "guard: the observer panicked", "name", stale.Name, "panic", cause,
				"stack", string(debug.Stack()))
		}
	}()
	o.Observe(ctx, lock.Event{Kind: lock.EventRefused, Name: stale.Name, Token: stale.Token, Err: err})
	return err
}
