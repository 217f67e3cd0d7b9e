package connectguard_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/bedrock-go/bedrock/lock/guard"
	"github.com/bedrock-go/bedrock/lock/guard/connectguard"
)

func Example() {
	pay := func(_ context.Context, r *connect.Request[text]) (*connect.Response[text], error) {
		return connect.NewResponse(wrapperspb.String("paid " + r.Msg.GetValue())), nil
	}
	service := httptest.NewServer(connect.NewUnaryHandler("/orders.v1.Orders/Pay", pay,
		connect.WithInterceptors(connectguard.Server(guard.NewMemory(nil), nil))))
	defer service.Close()

	orders := connect.NewClient[text, text](http.DefaultClient, service.URL+"/orders.v1.Orders/Pay",
		connect.WithInterceptors(connectguard.Client()))
	for _, token := range []uint64{34, 33} { // a lease's context carries its own
		ctx := guard.ContextWithTicket(context.Background(), guard.Ticket{Name: "orders/42", Token: token})
		_, err := orders.CallUnary(ctx, connect.NewRequest(wrapperspb.String("42")))
		fmt.Println(errors.Is(err, guard.ErrStale))
	}
	// Output:
	// false
	// true
}
