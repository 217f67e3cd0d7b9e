package grpccall_test

import (
	"fmt"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/coord/allow"
	"github.com/bedrock-go/bedrock/coord/grpccall"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

func ExampleNew() {
	rules, err := allow.Parse("grpcs://*.example.com")
	if err != nil {
		fmt.Println(err)
		return
	}
	calls, err := grpccall.New(&grpccall.Options{Allow: rules})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer calls.Close()
	co, err := coord.New(memstore.New(nil), &coord.Options{Callers: []txn.Caller{calls}})
	fmt.Println(co != nil, err)
	fmt.Println(calls.Check("grpcs://stock.example.com:443/stock.v1.Stock/Deduct"))
	fmt.Println(calls.Check("grpcs://stock.example.net:443/stock.v1.Stock/Deduct") != nil)
	// Output:
	// true <nil>
	// <nil>
	// true
}
