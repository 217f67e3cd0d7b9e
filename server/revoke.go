package server

import (
	"context"
	"errors"
	"time"

	"connectrpc.com/connect"
)

var errRevoked = errors.New("the token is not valid any more")

// revoked is what a caller is told whose token has been taken out meanwhile.
func revoked() error { return connect.NewError(connect.CodeUnauthenticated, errRevoked) }

// admission is by what a request was let in.
type admission struct {
	visitor

	least  Role    // that it needs
	tokens *Tokens // nil: everybody may do everything
}

type admissionKey struct{}

func withAdmission(ctx context.Context, a admission) context.Context {
	return context.WithValue(ctx, admissionKey{}, a)
}

func admissionFrom(ctx context.Context) admission {
	a, _ := ctx.Value(admissionKey{}).(admission)
	return a
}

// good tells whether it still would be let in.
func (a *admission) good() bool {
	known, _ := a.tokens.find(a.token)
	return known.role >= a.least
}

// untilRevoked ends a context when the token it was let in with is no longer good for
// it. Requests are over soon anyway; what goes on for as long as its caller wants, and what
// waits, must not outlive its caller's rights.
func untilRevoked(ctx context.Context) (context.Context, context.CancelFunc) {
	a := admissionFrom(ctx)
	if a.tokens == nil || a.least == Nobody {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var again *time.Timer
	started := make(chan struct{})
	again = time.AfterFunc(lookAgain, func() {
		<-started
		switch {
		case ctx.Err() != nil:
		case !a.good():
			cancel(errRevoked)
		default:
			again.Reset(lookAgain)
		}
	})
	close(started)
	return ctx, func() { cancel(nil); again.Stop() }
}
