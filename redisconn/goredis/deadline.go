package goredis

import (
	"context"
	"time"

	"github.com/bedrock-go/bedrock/internal/timelimit"
)

// dateless is a context that does not tell its deadline.
type dateless struct {
	context.Context //nolint:containedctx // it is a context
}

// Deadline implements [context.Context].
func (dateless) Deadline() (time.Time, bool) { return time.Time{}, false }

// undated hides a deadline from clients with ContextTimeoutEnabled: they would close the
// connection then, and not call back what is on its way over it, so that nobody would know
// when it has ended. Whoever waits for a connection still leaves with the caller's context,
// or when the pool's own time is up.
func undated(ctx context.Context) context.Context {
	ctx = timelimit.Caller(ctx)
	if _, dated := ctx.Deadline(); !dated {
		return ctx
	}
	return dateless{ctx}
}
