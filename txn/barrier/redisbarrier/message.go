package redisbarrier

import (
	"context"
	"errors"
	"fmt"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/barrier"
)

// opMessage is the operation of a message's producer.
const opMessage = "msg"

// Prepare runs the local work of a message's producer and sets, in the same script,
// the mark that Check looks for. The message must have been begun under this ID.
// Repeated, it does nothing and returns the first result. barrier.ErrRolledBack
// tells that the coordinator has asked first; nothing was done then.
func (b *Barrier) Prepare(ctx context.Context, id string, s *Script, keys []string, args ...any) ([]byte, error) {
	result, _, err := b.Do(ctx, txn.Call{Transaction: id, Op: opMessage}, s, keys, args...)
	if errors.Is(err, barrier.ErrHanging) {
		return nil, fmt.Errorf("redisbarrier: prepare message %q: %w", id, barrier.ErrRolledBack)
	}
	return result, err
}

// Check returns the participant that tells a coordinator what became of a message's
// producer: done if Prepare has run, refused if not, and then it will not run any
// more. The function says which first key Prepare is given for a message.
func (b *Barrier) Check(key func(call txn.Call) string) txn.Func {
	return func(ctx context.Context, call txn.Call) ([]byte, error) {
		cause, err := b.causeOf(ctx, call.Transaction, key(call))
		if err != nil {
			return nil, fmt.Errorf("redisbarrier: check message %q: %w", call.Transaction, err)
		}
		switch cause {
		case opMessage:
			return nil, nil
		case "half":
			return nil, fmt.Errorf("redisbarrier: check message %q: %w", call.Transaction, ErrHalfDone)
		default:
			return nil, txn.Abort(fmt.Errorf("message %q: its producer's local work was not done", call.Transaction))
		}
	}
}

func (b *Barrier) causeOf(ctx context.Context, id, key string) (cause string, err error) {
	if id == "" {
		return "", errors.New("message has no ID")
	}
	marks, err := b.marks(id, []string{key})
	if err != nil {
		return "", err
	}
	reply, err := b.eval(ctx, b.check, []string{marks}, []string{field(opMessage, ""), b.lifetime()})
	return reply.Str, err
}
