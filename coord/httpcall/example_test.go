package httpcall_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/coord/allow"
	"github.com/bedrock-go/bedrock/coord/httpcall"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

func ExampleNew() {
	service := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		fmt.Println(r.URL.Path, r.Header.Get("Bedrock-Operation"), r.Header.Get("Idempotency-Key"))
	}))
	defer service.Close()

	calls, err := httpcall.New(&httpcall.Options{Allow: allow.Loopback()})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer calls.Close()
	co, err := coord.New(memstore.New(nil), &coord.Options{
		Callers: []txn.Caller{calls},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	if err := co.Start(ctx); err != nil {
		fmt.Println(err)
		return
	}
	defer co.Stop(ctx)

	result, err := co.Run(ctx, txn.Definition{ID: "order-42", Mode: "saga", Branches: []txn.Branch{
		{ID: "stock", Do: txn.Target(service.URL + "/stock/deduct")},
		{ID: "pay", Do: txn.Target(service.URL + "/pay/charge"), After: []string{"stock"}},
	}})
	fmt.Println(result.Outcome, err)
	_, err = co.Run(ctx, txn.Definition{Mode: "saga", Branches: []txn.Branch{
		{ID: "pay", Do: "http://169.254.169.254/"},
	}})
	if refused, ok := errors.AsType[*txn.InvalidError](err); ok {
		fmt.Println(refused.Field)
		fmt.Println(refused.Problem)
	}
	// Output:
	// /stock/deduct action order-42/stock/action
	// /pay/charge action order-42/pay/action
	// committed <nil>
	// branches[0].do
	// not allowed: 169.254.169.254 is an address of a cloud's metadata; that takes a rule for the very address
}
