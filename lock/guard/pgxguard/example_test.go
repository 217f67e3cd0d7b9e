package pgxguard_test

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/guard"
	"github.com/bedrock-go/bedrock/lock/guard/pgxguard"
)

func Example() {
	pool, err := pgxpool.New(context.Background(), "postgres://127.0.0.1/orders") // where the data is
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pool.Close()
	orders, err := pgxguard.New(pool, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	pay := func(ctx context.Context, lease *lock.Lease) error {
		return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
			if err := orders.Check(ctx, tx, guard.Of(lease)); err != nil { // first of all
				return err
			}
			_, err := tx.Exec(ctx, "UPDATE orders SET status = 'paid' WHERE id = 42 AND status = 'new'")
			return err
		})
	}
	_ = pay // errors.Is(err, guard.ErrStale): somebody else has the lock by now
}
