package coord

import (
	"context"
	"runtime/debug"

	"github.com/bedrock-go/bedrock/txn"
)

// submitHeaders are the headers that the tracing keeps with a transaction: none, if it panics.
func (c *Coordinator) submitHeaders(ctx context.Context, d *txn.Definition) map[string]string {
	defer c.survivePanickedTracing(d.ID)
	return c.opts.Tracing.Submit(ctx, d)
}

// startSpan begins the span of a call. If the tracing panics, the call is made with the
// transaction's own headers, and has no span.
func (c *Coordinator) startSpan(
	ctx context.Context, call *txn.Call, target txn.Target,
) (headers map[string]string, end func(txn.Answer)) {
	headers, end = call.Headers, endNothing //nolint:wastedassign // it is what a panic leaves
	defer c.survivePanickedTracing(call.Transaction)
	return c.opts.Tracing.Call(ctx, call, target)
}

func endNothing(txn.Answer) {}

// endSpan ends the span of a call.
func (c *Coordinator) endSpan(id string, end func(txn.Answer), a txn.Answer) {
	defer c.survivePanickedTracing(id)
	end(a)
}

// survivePanickedTracing keeps the work, of which it was told, from ending with the tracing.
func (c *Coordinator) survivePanickedTracing(id string) {
	if p := recover(); p != nil {
		c.opts.Logger.Error("tracing panicked", "id", id, "panic", p, "stack", string(debug.Stack()))
	}
}
