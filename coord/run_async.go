package coord

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math"
	"strconv"
	"time"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/check"
	"github.com/bedrock-go/bedrock/txn/msg"
)

// sendAsync sends a call as a message of its own. The call is done once the message is
// durable, because that will arrive.
func (c *Coordinator) sendAsync(ctx context.Context, to txn.Target, f *flight) txn.Answer {
	err := c.submitPart(ctx, asyncMessage(to, &f.call, f.life))
	_, inDoubt := errors.AsType[*txn.InDoubtError](err)
	switch {
	case err == nil:
		return txn.Answer{Kind: txn.AnswerDone}
	case inDoubt: // the store does not answer, which is nobody's failure
		return brokenOffAnswer()
	default:
		_, lasting := errors.AsType[*txn.InvalidError](err)
		return txn.Answer{Kind: txn.AnswerFailed, Note: err.Error(), Lasting: lasting || errors.Is(err, txn.ErrExists)}
	}
}

// submitPart submits what is part of another transaction. Its functions are not looked for
// here: it was accepted with that transaction.
func (c *Coordinator) submitPart(ctx context.Context, d txn.Definition) error {
	t, rec, err := c.prepareRecord(ctx, c.parts, d, false)
	if err == nil {
		_, err = c.acceptOnce(ctx, t, rec)
	} else {
		_, err = c.findSubmitted(ctx, &d, err)
	}
	return err
}

// partLimits are the limits of what is part of another transaction. What it carries was
// accepted with that one, to which results and the headers of a trace have been added
// since, and must not be refused any more.
func partLimits(l check.Limits) check.Limits {
	l.Payload, l.Headers = math.MaxInt, math.MaxInt
	return l
}

// asyncMessage is the message that carries one call. Its ID follows from the call, so
// a repeated call finds it again, if it has the same content: the headers are those of the
// transaction, without what each attempt adds. A transaction that has the ID of an earlier
// one was created at another time, and has messages of its own.
func asyncMessage(to txn.Target, call *txn.Call, created time.Time) txn.Definition {
	life := strconv.FormatInt(created.UnixMicro(), 10)
	sum := sha256.Sum256([]byte(call.Transaction + "\n" + call.Branch + "\n" + call.Op + "\n" + life))
	return txn.Definition{
		ID: "async-" + hex.EncodeToString(sum[:16]), Mode: msg.Name, Name: call.Transaction, Headers: call.Headers,
		Branches: []txn.Branch{{ID: call.Branch, Confirm: to, Payload: call.Payload}},
	}
}
