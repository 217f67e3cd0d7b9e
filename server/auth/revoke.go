package auth

import (
	"context"
	"errors"
	"time"
)

// ErrRevoked is the cause with which a context ends when the token of its caller was taken
// out.
var ErrRevoked = errors.New("the token is not valid any more")

// UntilRevoked ends a context of [Pass.Admit] with [ErrRevoked] when the token is no longer
// good for what it was admitted to. Calls that are answered at once do not need it. What
// goes on for as long as its caller wants, and what waits, must not outlive its caller's
// rights.
func UntilRevoked(ctx context.Context) (context.Context, context.CancelFunc) {
	a, ok := ctx.Value(admissionKey{}).(*admission)
	if !ok || a.tokens == nil || a.least == Nobody {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var again *time.Timer
	started := make(chan struct{})
	again = time.AfterFunc(checkEvery, func() {
		<-started
		switch {
		case ctx.Err() != nil:
		case !a.stillGood():
			cancel(ErrRevoked)
		default:
			again.Reset(checkEvery)
		}
	})
	close(started)
	return ctx, func() { cancel(nil); again.Stop() }
}

// stillGood reports whether the caller would be admitted again.
func (a *admission) stillGood() bool { return a.tokens.find(a.hash).role >= a.least }
