package tcc_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/memstore"
	"github.com/bedrock-go/bedrock/txn/tcc"
)

// airline is a participant: it reserves seats, and is told what to do with them.
func airline(seats int) txn.Func {
	return func(_ context.Context, call txn.Call) ([]byte, error) {
		if call.Op == "try" && seats == 0 {
			return nil, txn.Abort(errors.New("no seat left"))
		}
		fmt.Fprintln(os.Stdout, call.Branch, call.Op)
		return nil, nil
	}
}

func engine(ctx context.Context, seats int) (*coord.Coordinator, error) {
	co, err := coord.New(memstore.New(nil), nil)
	if err != nil {
		return nil, err
	}
	return co, errors.Join(
		co.Register("hotel", airline(1)), co.Register("flight", airline(seats)), co.Start(ctx),
	)
}

// The coordinator makes the tries, and tells the participants what came of it.
func Example() {
	ctx := context.Background()
	co, err := engine(ctx, 0)
	if err != nil {
		log.Fatal(err)
	}
	trip := tcc.New("trip").
		Branch("hotel", "hotel", "hotel", "hotel").
		Branch("flight", "flight", "flight", "flight").After("hotel").
		ID("trip-1")
	_, err = trip.Run(ctx, co, nil)
	fmt.Println(err)
	if err := co.Stop(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// hotel try
	// hotel cancel
	// transaction trip-1 was rolled back: flight was refused: no seat left
}

// The caller makes the tries, in its own code and with what it knows.
func ExampleDo() {
	ctx := context.Background()
	co, err := engine(ctx, 1)
	if err != nil {
		log.Fatal(err)
	}
	reserve := func(ctx context.Context) error {
		call, _ := txn.CallFrom(ctx) // identifies the reservation
		fmt.Println("reserved for", call.Branch)
		return nil
	}
	res, err := tcc.Do(ctx, co, "trip", func(ctx context.Context, t *tcc.Transaction) error {
		return t.Try(ctx, tcc.Branch{ID: "flight", Confirm: "flight", Cancel: "flight"}, reserve)
	}, nil)
	fmt.Println(res.Outcome, err)
	if err := co.Stop(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// reserved for flight
	// flight confirm
	// committed <nil>
}
