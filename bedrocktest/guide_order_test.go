package bedrocktest_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn/memstore"
	"github.com/bedrock-go/bedrock/txn/saga"
)

func TestOrderIsUndoneWhenThePaymentIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parts := bedrocktest.NewParticipant()
		parts.On("stock action").Fail(2) // twice; then it is done
		parts.On("pay action").Refuse("no money")

		co, err := coord.New(memstore.New(nil), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"stock.deduct", "stock.restore", "pay.charge", "pay.refund"} {
			if err := co.Register(name, parts.Func); err != nil {
				t.Fatal(err)
			}
		}
		if err := co.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer co.Stop(context.Background())

		// What follows is your own code's: here it is the test's.
		order := saga.New("order").
			Step("stock", "stock.deduct", "stock.restore").
			Step("pay", "pay.charge", "pay.refund")
		res, _ := order.Run(t.Context(), co, nil)

		bedrocktest.RolledBack(t, co, res.ID)
		parts.Did(t, "stock action", "stock compensate")
		parts.NotCalled(t, "pay compensate")
	})
}
