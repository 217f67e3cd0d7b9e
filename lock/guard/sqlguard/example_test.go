package sqlguard_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/bedrock-go/bedrock/lock/guard"
	"github.com/bedrock-go/bedrock/lock/guard/sqlguard"
)

func ExampleGuard() {
	ctx := context.Background()
	db, err := sql.Open("sqlite", "file:example?mode=memory&cache=shared")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	orders, err := sqlguard.New(db, sqlguard.SQLite, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := orders.Migrate(ctx); err != nil {
		fmt.Println(err)
		return
	}
	pay := func(holder guard.Ticket) error { // guard.Of(lease)
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		if err := orders.Check(ctx, tx, holder); err != nil { // first of all
			return err
		}
		// … read and write …
		return tx.Commit()
	}
	fmt.Println(orders.Announce(ctx, guard.Ticket{Name: "orders/42", Token: 34})) // before the first read
	err = pay(guard.Ticket{Name: "orders/42", Token: 33})
	fmt.Println(errors.Is(err, guard.ErrStale), err)
	fmt.Println(pay(guard.Ticket{Name: "orders/42", Token: 34}))
	// Output:
	// <nil>
	// true lock "orders/42": token 33 is stale: the resource knows 34
	// <nil>
}

func ExampleColumn() {
	ctx := context.Background()
	db, err := sql.Open("sqlite", "file:column?mode=memory&cache=shared")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	_, err = db.ExecContext(ctx, `
		CREATE TABLE orders (id INTEGER PRIMARY KEY, status TEXT, fence BIGINT NOT NULL DEFAULT 0);
		INSERT INTO orders (id, status) VALUES (42, 'new')`)
	if err != nil {
		fmt.Println(err)
		return
	}
	orders, err := sqlguard.NewColumn(sqlguard.SQLite, &sqlguard.ColumnOptions{Table: "orders"})
	if err != nil {
		fmt.Println(err)
		return
	}
	pay := func(holder guard.Ticket) error { // guard.Of(lease)
		result, err := db.ExecContext(ctx, "UPDATE orders SET status = ?, fence = ? WHERE id = ? AND fence <= ?",
			"paid", holder.Token, 42, holder.Token)
		if err != nil {
			return err
		}
		return orders.Check(ctx, db, holder, 42, result)
	}
	fmt.Println(pay(guard.Ticket{Name: "orders/42", Token: 34}))
	fmt.Println(pay(guard.Ticket{Name: "orders/42", Token: 33}))
	// Output:
	// <nil>
	// lock "orders/42": token 33 is stale: the resource knows 34
}
