package check_test

import (
	"errors"
	"fmt"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/check"
)

func ExampleTarget() {
	fmt.Println(check.Target("https://pay.example/charge"))
	err := check.Target("https://pay.example/charge#now")
	wrong, _ := errors.AsType[*input.Error](err)
	fmt.Println(wrong != nil, err)
	// Output:
	// <nil>
	// true target: "https://pay.example/charge#now": a fragment is never sent
}

func ExampleChecker() {
	d := txn.Definition{ID: "order-42", Mode: "saga", Branches: []txn.Branch{
		{ID: "pay", Do: "bank.charge", After: []string{"stock"}},
	}}
	fmt.Println(check.New(check.Limits{}).Definition(&d))
	// Output: branches[0].after: "pay" waits for "stock", which is not there
}
