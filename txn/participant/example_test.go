package participant_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/bedrock-go/bedrock/coord/httpcall"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/participant"
)

func ExampleHandler() {
	type order struct {
		Item  string
		Count int
	}
	deduct := func(_ context.Context, o order) (string, error) {
		if o.Count > 10 {
			return "", txn.Abort(errors.New("only 10 left"))
		}
		return fmt.Sprintf("%d × %s", o.Count, o.Item), nil
	}

	mux := http.NewServeMux()
	mux.Handle("/stock/deduct", participant.Handler(txn.Handle(deduct), nil))
	service := httptest.NewServer(mux)
	defer service.Close()

	// What a coordinator does with it:
	calls, err := httpcall.New(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer calls.Close()
	target := txn.Target(service.URL + "/stock/deduct")
	for _, payload := range []string{`{"Item":"tea","Count":2}`, `{"Item":"tea","Count":20}`} {
		call := txn.Call{Transaction: "order-42", Branch: "stock", Op: "action", Attempt: 1, Payload: []byte(payload)}
		answer := calls.Call(context.Background(), target, call)
		fmt.Printf("%s %s%s\n", answer.Kind, answer.Result, answer.Note)
	}
	// Output:
	// done "2 × tea"
	// refused only 10 left
}
