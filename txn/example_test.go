package txn_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/memstore"
	"github.com/bedrock-go/bedrock/txn/saga"
)

// order is what participants are given.
type order struct{ Lamps int }

// A participant says that it cannot, and what was done before it is undone.
func ExampleAbort() {
	co, err := coord.New(memstore.New(nil), nil)
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	deduct := txn.Handle(func(_ context.Context, o order) (int, error) { return 10 - o.Lamps, nil })
	restore := txn.Handle(func(_ context.Context, o order) (string, error) {
		fmt.Println("back on the shelf:", o.Lamps)
		return "", nil
	})
	charge := txn.Handle(func(context.Context, order) (string, error) {
		return "", txn.Abort(errors.New("there is not enough"))
	})
	err = errors.Join(co.Register("stock.deduct", deduct), co.Register("stock.restore", restore),
		co.Register("pay", charge), co.Start(ctx))
	if err != nil {
		log.Fatal(err)
	}
	defer co.Stop(ctx)

	_, err = saga.New("order").
		Step("stock", "stock.deduct", "stock.restore").
		Step("pay", "pay", "").
		Run(ctx, co, order{Lamps: 3})
	if undone, ok := errors.AsType[*txn.RolledBackError](err); ok {
		fmt.Println(undone.Reason)
	}
	// Output:
	// back on the shelf: 3
	// pay was refused: there is not enough
}

// The errors of Run and Wait say what is known of the outcome.
func ExampleInDoubtError() {
	explain := func(err error) string {
		var undone *txn.RolledBackError
		var parked *txn.ParkedError
		var open *txn.InDoubtError
		switch {
		case err == nil:
			return "committed"
		case errors.As(err, &undone):
			return "nothing was done: " + undone.Reason
		case errors.As(err, &parked):
			return "a person has to look: " + parked.Reason
		case errors.As(err, &open):
			return "not known yet; Wait for " + open.ID
		default:
			return "nothing was done: " + err.Error()
		}
	}
	fmt.Println(explain(&txn.InDoubtError{ID: "order-42", Err: context.DeadlineExceeded}))
	fmt.Println(explain(txn.ErrUnavailable))
	// Output:
	// not known yet; Wait for order-42
	// nothing was done: coordinator unavailable
}

// A participant that is still working says when to ask again.
func ExamplePending() {
	finished := false
	ship := txn.Handle(func(context.Context, order) (string, error) {
		if !finished {
			finished = true // by the time of the next call
			return "", txn.Pending(5 * time.Second)
		}
		return "parcel 7", nil
	})
	for range 2 {
		result, err := ship(context.Background(), txn.Call{Payload: []byte(`{"Lamps":3}`)})
		fmt.Printf("%q, %v\n", result, err)
	}
	// Output:
	// "", still working; ask again in 5s
	// "\"parcel 7\"", <nil>
}
