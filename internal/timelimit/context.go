package timelimit

import (
	"context"
	"sync/atomic"
	"time"
)

// Context is the context of a call: it ends with that of its caller, or with a limit. It
// is made by [Context.Begin], once, and is then safe for concurrent use.
//
// It does not tell the limit's end as a deadline: a client that knows of one closes the
// connection by it, and the answer that is on its way is lost.
type Context struct {
	context.Context //nolint:containedctx // it is a context: the caller's

	limit context.Context //nolint:containedctx // which many calls share
	both  atomic.Pointer[both]
}

// both is a context that ends with either. It costs memory, so it is made when somebody
// wants to wait for it.
type both struct {
	ctx     context.Context //nolint:containedctx // see above
	cancel  context.CancelCauseFunc
	unlimit func() bool
}

// Begin makes c the context of a call.
func (c *Context) Begin(caller, limit context.Context) { c.Context, c.limit = caller, limit }

// End frees what was made for those who waited for the end of c.
func (c *Context) End() {
	if b := c.both.Load(); b != nil {
		b.release()
	}
}

func (b *both) release() {
	b.unlimit()
	b.cancel(nil)
}

// Err implements [context.Context]. Whoever still hangs on a call that is over, and has waited
// for its end, is told that it has ended.
func (c *Context) Err() error {
	if err := c.Context.Err(); err != nil {
		return err
	}
	if err := c.limit.Err(); err != nil {
		return err
	}
	if b := c.both.Load(); b != nil {
		return b.ctx.Err()
	}
	return nil
}

// Done implements [context.Context].
func (c *Context) Done() <-chan struct{} {
	if c.Context.Done() == nil {
		return c.limit.Done()
	}
	if b := c.both.Load(); b != nil {
		return b.ctx.Done()
	}
	b := &both{}
	b.ctx, b.cancel = context.WithCancelCause(c.Context)
	b.unlimit = context.AfterFunc(c.limit, func() { b.cancel(c.limit.Err()) })
	if !c.both.CompareAndSwap(nil, b) {
		b.release()
	}
	return c.both.Load().ctx.Done()
}

// Value implements [context.Context]. Contexts made of c hang on what ends with both: it is
// there by then, for they have asked for its end.
func (c *Context) Value(key any) any {
	if b := c.both.Load(); b != nil {
		return b.ctx.Value(key)
	}
	return c.Context.Value(key)
}

// Caller returns the context of a call's caller, without the limit, for what has a limit of
// its own; any other context as it is.
func Caller(ctx context.Context) context.Context {
	if c, ok := ctx.(*Context); ok {
		return c.Context
	}
	return ctx
}

// Ends returns what tells the two ends of a call's context: that of its caller, and its
// limit's. Whoever waits for either by itself costs no memory. A context that has no limit
// has one end.
func Ends(ctx context.Context) (caller, limit <-chan struct{}) {
	if c, ok := ctx.(*Context); ok {
		return c.Context.Done(), c.limit.Done()
	}
	return ctx.Done(), nil
}

// Deadline returns when a call's context ends at the latest, by its caller's time or by the limit, for who plans by it;
// the context itself tells the caller's alone.
func Deadline(ctx context.Context) (end time.Time, ok bool) {
	end, ok = ctx.Deadline()
	c, isCall := ctx.(*Context)
	if !isCall {
		return end, ok
	}
	if limit, limited := c.limit.Deadline(); limited && (!ok || limit.Before(end)) {
		return limit, true
	}
	return end, ok
}
