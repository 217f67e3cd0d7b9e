package msg_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/memstore"
	"github.com/bedrock-go/bedrock/txn/msg"
)

// orders stands for a service's own database: it writes the message's ID down with
// the order, so that it can say later whether that was committed.
type orders struct{ messages sync.Map }

func (o *orders) save(_ context.Context, id string) error {
	o.messages.Store(id, true)
	return nil
}

func (o *orders) check(_ context.Context, call txn.Call) ([]byte, error) {
	if _, ok := o.messages.Load(call.Transaction); !ok {
		return nil, txn.Abort(errors.New("no order with this message"))
	}
	return nil, nil
}

// A message is delivered if, and only if, the local transaction was committed.
func Example() {
	ctx := context.Background()
	co, err := coord.New(memstore.New(nil), nil)
	if err != nil {
		log.Fatal(err)
	}
	mail := txn.Handle(func(_ context.Context, order string) (string, error) {
		fmt.Println("a mail about", order)
		return "sent", nil
	})
	db := &orders{}
	if err := errors.Join(co.Register("mail", mail), co.Register("orders.check", db.check), co.Start(ctx)); err != nil {
		log.Fatal(err)
	}
	paid := msg.New("order-paid").To("mail", "mail").Check("orders.check", 10*time.Second, nil)
	id, err := paid.Do(ctx, co, "order 42", db.save)
	if err != nil {
		log.Fatal(err)
	}
	res, err := co.Wait(ctx, id) // only for this example; Do has done its part
	fmt.Println(res.Outcome, err)
	if err := co.Stop(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// a mail about order 42
	// committed <nil>
}
