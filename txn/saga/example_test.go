package saga_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/memstore"
	"github.com/bedrock-go/bedrock/txn/saga"
)

// Order is what is ordered.
type Order struct {
	Item   string
	Amount int
}

// charge is a participant: an ordinary function over JSON values.
func charge(_ context.Context, o Order) (map[string]string, error) {
	if o.Amount > 100 {
		return nil, txn.Abort(errors.New("not enough money"))
	}
	fmt.Fprintln(os.Stdout, "charged", o.Amount)
	return map[string]string{"id": "payment-7"}, nil
}

// engine is a coordinator with the participants of the examples.
func engine(ctx context.Context) (*coord.Coordinator, error) {
	co, err := coord.New(memstore.New(nil), nil)
	if err != nil {
		return nil, err
	}
	say := func(what string) txn.Func {
		return txn.Handle(func(_ context.Context, o Order) (string, error) {
			fmt.Fprintln(os.Stdout, what, o.Item)
			return what, nil
		})
	}
	ship := txn.Handle(func(_ context.Context, in struct{ Item, PaymentID string }) (string, error) {
		fmt.Fprintln(os.Stdout, "shipped", in.Item, "for", in.PaymentID)
		return "parcel", nil
	})
	return co, errors.Join(
		co.Register("stock.deduct", say("deducted")),
		co.Register("stock.restore", say("restored")),
		co.Register("pay.charge", txn.Handle(charge)),
		co.Register("pay.refund", say("refunded")),
		co.Register("ship.send", ship),
		co.Start(ctx),
	)
}

// A saga whose steps can all be done is committed.
func Example() {
	ctx := context.Background()
	co, err := engine(ctx)
	if err != nil {
		log.Fatal(err)
	}
	order := saga.New("order").
		Step("stock", "stock.deduct", "stock.restore").
		Step("pay", "pay.charge", "pay.refund").
		Step("ship", "ship.send", "").Use("PaymentID", "pay.id")
	res, err := order.Run(ctx, co, Order{Item: "lamp", Amount: 30})
	fmt.Println(res.Outcome, err)
	if err := co.Stop(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// deducted lamp
	// charged 30
	// shipped lamp for payment-7
	// committed <nil>
}

// A step that is refused rolls the saga back: what was done is compensated.
func ExampleSaga_Run_refused() {
	ctx := context.Background()
	co, err := engine(ctx)
	if err != nil {
		log.Fatal(err)
	}
	order := saga.New("order").
		Step("stock", "stock.deduct", "stock.restore").
		Step("pay", "pay.charge", "pay.refund").
		ID("order-42")
	_, err = order.Run(ctx, co, Order{Item: "piano", Amount: 9000})
	fmt.Println(err)
	if err := co.Stop(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// deducted piano
	// restored piano
	// transaction order-42 was rolled back: pay was refused: not enough money
}

// Steps that do not wait for one another run at once, and a saga can be a step of
// another.
func ExampleSaga_Nested() {
	ship := saga.New("ship").
		Step("pack", "ship.pack", "ship.unpack").
		Step("label", "ship.label", "").After()
	order := saga.New("order").
		Step("stock", "stock.deduct", "stock.restore").
		Nested("ship", ship).
		Step("mail", "mail.send", "")
	d, err := order.Definition(nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, b := range d.Branches {
		fmt.Println(b.ID, "after", b.After)
	}
	// Output:
	// stock after []
	// ship/pack after [stock]
	// ship/label after [stock]
	// mail after [ship/pack ship/label]
}
