package coord

import (
	"bytes"
	"context"
	"errors"
	"maps"

	"github.com/bedrock-go/bedrock/txn"
)

// callFunction calls a participant in this process.
func (c *Coordinator) callFunction(ctx context.Context, name string, call txn.Call) txn.Answer {
	f, _ := c.names.get(name) // checkLane has found it, and none is ever removed
	result, err := f(ctx, lentCopy(call))
	return answerOf(ctx, bytes.Clone(result), err)
}

// lentCopy is a copy of a call that a function may change as it likes. Its changes must not
// show in later calls, or in those to others at the same time.
func lentCopy(call txn.Call) txn.Call {
	call.Payload, call.Result = bytes.Clone(call.Payload), bytes.Clone(call.Result)
	call.Headers = maps.Clone(call.Headers)
	return call
}

// answerOf translates what a function returned.
func answerOf(ctx context.Context, result []byte, err error) txn.Answer {
	pending, isPending := errors.AsType[*txn.PendingError](err)
	switch {
	case err == nil:
		return txn.Answer{Kind: txn.AnswerDone, Result: result}
	case txn.Aborted(err):
		return txn.Answer{Kind: txn.AnswerRefused, Note: err.Error()}
	case isPending:
		return txn.Answer{Kind: txn.AnswerPending, After: pending.After, Note: err.Error()}
	default:
		return txn.Answer{
			Kind: txn.AnswerFailed, Note: err.Error(),
			Down: ctx.Err() != nil, Lasting: errors.Is(err, txn.ErrMalformed),
		}
	}
}
