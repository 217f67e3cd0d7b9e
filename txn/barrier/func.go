package barrier

import (
	"context"
	"database/sql"

	"github.com/bedrock-go/bedrock/txn"
)

// Func makes a participant of a function that works in a local transaction.
func (b *Barrier) Func(f func(ctx context.Context, tx *sql.Tx, call txn.Call) (result []byte, err error)) txn.Func {
	return func(ctx context.Context, call txn.Call) ([]byte, error) {
		result, _, err := b.Do(ctx, call, func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
			return f(ctx, tx, call)
		})
		return result, err
	}
}

// Handle makes a participant of a function over JSON values that works in a local
// transaction: [txn.Handle] behind a barrier.
func Handle[In, Out any](b *Barrier, f func(ctx context.Context, tx *sql.Tx, in In) (Out, error)) txn.Func {
	return b.Func(func(ctx context.Context, tx *sql.Tx, call txn.Call) ([]byte, error) {
		return txn.Handle(func(ctx context.Context, in In) (Out, error) { return f(ctx, tx, in) })(ctx, call)
	})
}
