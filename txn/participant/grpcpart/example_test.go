package grpcpart_test

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/participant/grpcpart"
)

func ExampleInterceptor() {
	server := grpc.NewServer(grpc.ChainUnaryInterceptor(grpcpart.Interceptor(nil)))
	defer server.Stop()

	// A method of a service registered with the server:
	deduct := func(ctx context.Context, item string) (string, error) {
		call, ok := txn.CallFrom(ctx)
		if ok && item == "tea" {
			return "", txn.Abort(fmt.Errorf("%s: %w", call.Branch, errors.New("out of tea")))
		}
		return "done", nil
	}
	_, err := deduct(txn.ContextWithCall(context.Background(), txn.Call{Transaction: "order-42", Branch: "stock"}),
		"tea")
	fmt.Println(txn.Aborted(err), err)
	// Output: true stock: out of tea
}
