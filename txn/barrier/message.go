package barrier

import (
	"context"
	"fmt"

	"github.com/bedrock-go/bedrock/txn"
)

// Prepare binds a message to its producer's local transaction: it sets the mark
// that Check looks for. Call it with the ID of a message that was begun, within
// the transaction that holds the business data, before anything else. After an
// error, roll back: ErrRolledBack and ErrPrepared tell that it is too late.
func (b *Barrier) Prepare(ctx context.Context, tx Tx, id string) error {
	m, err := b.messageMark(id, b.layout.prepared)
	if err != nil {
		return err
	}
	fresh, err := b.layout.insert(ctx, tx, m)
	if err == nil && !fresh {
		err = b.tooLate(ctx, tx, m)
	}
	if err != nil {
		return fmt.Errorf("barrier: prepare message %q: %w", id, err)
	}
	return nil
}

// tooLate says why a message cannot be prepared.
func (b *Barrier) tooLate(ctx context.Context, tx Tx, m mark) error {
	found, err := b.layout.read(ctx, tx, m.key)
	switch {
	case err != nil:
		return err
	case found.cause == m.cause:
		return ErrPrepared
	default:
		return ErrRolledBack
	}
}

// Check is the participant that tells a coordinator what became of the local
// transaction of a message's producer: done if it was committed with Prepare,
// refused if not. It waits while that transaction is open, as long as ctx allows,
// and makes sure that it cannot be committed after a refusal.
func (b *Barrier) Check(ctx context.Context, call txn.Call) ([]byte, error) {
	m, err := b.messageMark(call.Transaction, b.layout.checked)
	if err != nil {
		return nil, err
	}
	found := m
	fresh, err := b.layout.insert(ctx, b.db, m)
	if err == nil && !fresh {
		found, err = b.layout.read(ctx, b.db, m.key)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("barrier: check message %q: %w", call.Transaction, err)
	case found.cause == b.layout.prepared:
		return nil, nil
	default:
		return nil, txn.Abort(
			fmt.Errorf("message %q: its producer's local transaction was not committed", call.Transaction),
		)
	}
}

// messageMark is the mark of a message. Producer and coordinator have nothing but
// its ID in common.
func (b *Barrier) messageMark(id, cause string) (mark, error) {
	m := mark{key: b.layout.message, cause: cause, mode: "msg"}
	m.transaction = id
	return m, b.layout.check(txn.Call{Transaction: id, Op: m.op})
}
