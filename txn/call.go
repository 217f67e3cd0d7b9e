package txn

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Func takes part in transactions. It returns nil when its part is done, Abort to
// refuse for a reason of the business, Pending to be asked again, an error that
// matches ErrMalformed when it will never take the call, and any other error when it does
// not know: it is then called again. It must therefore be idempotent; package barrier
// makes it so. The call's memory is its own, to change as it likes.
type Func func(ctx context.Context, call Call) (result []byte, err error)

// Call is what a participant is asked. (Transaction, Branch, Op) identifies it
// for good: repeated calls carry the same three.
type Call struct {
	Transaction string
	Branch      string
	// Op is the operation in the mode's words: action, compensate, try, confirm,
	// cancel, deliver, check. A hook is asked about one of them, such as hook:action.
	Op   string
	Mode string
	// Attempt counts the calls of this operation, from 1, by what is written down of them. A
	// call whose coordinator was lost under way is not: the next has the same number, and
	// another Epoch.
	Attempt int
	// Epoch rises whenever another coordinator takes the transaction over.
	Epoch   int64
	Payload []byte
	// Deadline is when an undecided transaction will be rolled back; zero: never.
	Deadline time.Time
	// Result is what the branch returned when it went forward.
	Result  []byte
	Headers map[string]string
}

// Handle makes a Func of a function over JSON values.
func Handle[In, Out any](f func(ctx context.Context, in In) (Out, error)) Func {
	return func(ctx context.Context, call Call) ([]byte, error) {
		var in In
		if len(call.Payload) > 0 {
			if err := json.Unmarshal(call.Payload, &in); err != nil {
				return nil, fmt.Errorf("%w: payload of %s: %w", ErrMalformed, call.Branch, err)
			}
		}
		out, err := f(ContextWithCall(ctx, call), in)
		if err != nil {
			return nil, err
		}
		return json.Marshal(out)
	}
}

// HookPrefix tells the operation that a hook is asked about from that operation itself.
const HookPrefix = "hook:"

type callKey struct{}

// ContextWithCall returns a context that carries a call to the code below.
func ContextWithCall(ctx context.Context, call Call) context.Context {
	return context.WithValue(ctx, callKey{}, call)
}

// CallFrom returns the call a context carries.
func CallFrom(ctx context.Context) (Call, bool) {
	call, ok := ctx.Value(callKey{}).(Call)
	return call, ok
}
