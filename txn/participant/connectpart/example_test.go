package connectpart_test

import (
	"context"
	"errors"
	"fmt"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/participant/connectpart"
)

func ExampleInterceptor() {
	deduct := func(ctx context.Context, item *request) (*response, error) {
		call, ok := txn.CallFrom(ctx)
		if ok && call.Op == "action" && item.Msg.Value == "tea" {
			return nil, txn.Abort(errors.New("out of tea"))
		}
		return connect.NewResponse(wrapperspb.String("done")), nil
	}
	handler := connect.NewUnaryHandler(procedure, deduct, connect.WithInterceptors(connectpart.Interceptor()))
	fmt.Printf("%T\n", handler)
	// Output: *connect.Handler
}
