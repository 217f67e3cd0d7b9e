package server

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"
)

var errRevoked = errors.New("the token is not valid any more")

// untilRevoked ends a context when the token it was let in with is no longer good for
// it. Requests are over soon anyway; what goes on for as long as its caller wants must
// not outlive its caller's rights.
func (g *gate) untilRevoked(ctx context.Context, token [sha256.Size]byte, least Role) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if g.auth == nil || least == Nobody {
		return ctx, func() { cancel(nil) }
	}
	var again *time.Timer
	started := make(chan struct{})
	again = time.AfterFunc(lookAgain, func() {
		<-started
		switch known, _ := g.auth.find(token); {
		case ctx.Err() != nil:
		case known.role < least:
			cancel(errRevoked)
		default:
			again.Reset(lookAgain)
		}
	})
	close(started)
	return ctx, func() { cancel(nil); again.Stop() }
}
