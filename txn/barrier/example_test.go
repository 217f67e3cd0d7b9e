package barrier_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/barrier"
	"github.com/bedrock-go/bedrock/txn/memstore"
	"github.com/bedrock-go/bedrock/txn/msg"
	"github.com/bedrock-go/bedrock/txn/saga"
)

// transfer is what the participants of the examples are asked to do.
type transfer struct {
	From, To string
	Amount   int
}

// bank is a database with two accounts and a barrier.
func bank(ctx context.Context) (*sql.DB, *barrier.Barrier, error) {
	db, err := sql.Open("sqlite", "file:example?mode=memory")
	if err != nil {
		return nil, nil, err
	}
	db.SetMaxOpenConns(1) // a database in memory belongs to its connection
	const schema = `CREATE TABLE account (name TEXT PRIMARY KEY, balance INT CHECK (balance >= 0));
		INSERT INTO account VALUES ('alice', 100), ('bob', 0)`
	if _, err := db.ExecContext(ctx, schema); err != nil {
		return nil, nil, err
	}
	b, err := barrier.New(db, barrier.SQLite, nil)
	if err != nil {
		return nil, nil, err
	}
	return db, b, b.Migrate(ctx)
}

// move changes a balance within a local transaction.
func move(ctx context.Context, tx *sql.Tx, name string, amount int) error {
	_, err := tx.ExecContext(ctx, "UPDATE account SET balance = balance + ? WHERE name = ?", amount, name)
	return err
}

// The same call, delivered twice, takes effect once.
func ExampleBarrier_Do() {
	ctx := context.Background()
	db, b, err := bank(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()

	call := txn.Call{Transaction: "order-42", Branch: "pay", Op: "action", Attempt: 1}
	for range 2 {
		result, verdict, err := b.Do(ctx, call, func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
			return []byte("receipt 1"), move(ctx, tx, "bob", 10)
		})
		fmt.Println(string(result), verdict, err)
	}
	// Output:
	// receipt 1 ran <nil>
	// receipt 1 duplicate <nil>
}

// Two participants of a saga behind a barrier. The second one does its work, but its
// first answer is lost: it is called again, and pays once.
func Example() {
	ctx := context.Background()
	db, b, err := bank(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()

	withdraw := barrier.Handle(b, func(ctx context.Context, tx *sql.Tx, t transfer) (string, error) {
		return "withdrawn", move(ctx, tx, t.From, -t.Amount)
	})
	refund := barrier.Handle(b, func(ctx context.Context, tx *sql.Tx, t transfer) (string, error) {
		return "refunded", move(ctx, tx, t.From, t.Amount)
	})
	deposit := barrier.Handle(b, func(ctx context.Context, tx *sql.Tx, t transfer) (string, error) {
		return "deposited", move(ctx, tx, t.To, t.Amount)
	})
	lossy := func(ctx context.Context, call txn.Call) ([]byte, error) {
		result, err := deposit(ctx, call)
		if call.Attempt == 1 {
			return nil, errors.New("answer lost")
		}
		return result, err
	}

	co, err := coord.New(memstore.New(nil), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for name, f := range map[string]txn.Func{"withdraw": withdraw, "refund": refund, "deposit": lossy} {
		if err := co.Register(name, f); err != nil {
			fmt.Println(err)
			return
		}
	}
	if err := co.Start(ctx); err != nil {
		fmt.Println(err)
		return
	}
	defer co.Stop(ctx)

	_, err = saga.New("transfer").
		Step("out", "withdraw", "refund").
		Step("in", "deposit", "").Policy(txn.Policy{Backoff: 10 * time.Millisecond}).
		Run(ctx, co, transfer{From: "alice", To: "bob", Amount: 30})
	if err != nil {
		fmt.Println(err)
		return
	}
	var alice, bob int
	err = db.QueryRowContext(ctx, "SELECT MAX(balance), MIN(balance) FROM account").Scan(&alice, &bob)
	fmt.Println(alice, bob, err)
	// Output: 70 30 <nil>
}

// A message that is delivered if, and only if, its producer's local transaction is
// committed.
func ExampleBarrier_Local() {
	ctx := context.Background()
	db, b, err := bank(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()

	delivered := make(chan string, 1)
	co, err := coord.New(memstore.New(nil), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for name, f := range map[string]txn.Func{
		"bank.check": b.Check, // asked if the producer is not heard of
		"mail.send": txn.Handle(func(_ context.Context, t transfer) (string, error) {
			delivered <- fmt.Sprintf("dear %s, %d from %s", t.To, t.Amount, t.From)
			return "sent", nil
		}),
	} {
		if err := co.Register(name, f); err != nil {
			fmt.Println(err)
			return
		}
	}
	if err := co.Start(ctx); err != nil {
		fmt.Println(err)
		return
	}
	defer co.Stop(ctx)

	paid := msg.New("paid").To("mail", "mail.send").Check("bank.check", 0, nil)
	t := transfer{From: "alice", To: "bob", Amount: 30}
	_, err = paid.Do(ctx, co, t, b.Local(func(ctx context.Context, tx *sql.Tx) error {
		return errors.Join(move(ctx, tx, t.From, -t.Amount), move(ctx, tx, t.To, t.Amount))
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(<-delivered)

	t.Amount = 500 // more than alice has
	_, err = paid.Do(ctx, co, t, b.Local(func(ctx context.Context, tx *sql.Tx) error {
		return move(ctx, tx, t.From, -t.Amount)
	}))
	fmt.Println("committed and delivered:", err == nil)
	// Output:
	// dear bob, 30 from alice
	// committed and delivered: false
}
