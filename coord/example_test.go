package coord_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/memstore"
	"github.com/bedrock-go/bedrock/txn/saga"
)

// An order deducts stock and charges a card. The bank refuses, so the stock is restored.
func Example() {
	say := func(what string) txn.Func {
		return func(context.Context, txn.Call) ([]byte, error) {
			fmt.Println(what)
			return nil, nil
		}
	}
	refuse := func(context.Context, txn.Call) ([]byte, error) {
		return nil, txn.Abort(errors.New("the card has expired"))
	}

	co, err := coord.New(memstore.New(nil), &coord.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		log.Fatal(err)
	}
	for name, f := range map[string]txn.Func{
		"stock.deduct": say("deducted"), "stock.restore": say("restored"),
		"card.charge": refuse, "card.refund": say("refunded"),
	} {
		if err := co.Register(name, f); err != nil {
			log.Fatal(err)
		}
	}
	ctx := context.Background()
	if err := co.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer co.Stop(ctx)

	order := map[string]any{"id": "o-1", "amount": 30}
	res, err := saga.New("order").
		Step("stock", "stock.deduct", "stock.restore").
		Step("pay", "card.charge", "card.refund").
		Run(ctx, co, order)
	if _, rolledBack := errors.AsType[*txn.RolledBackError](err); rolledBack {
		fmt.Println(res.Outcome, "because", res.Reason)
	}
	// Output:
	// deducted
	// restored
	// rolled-back because pay was refused: the card has expired
}
