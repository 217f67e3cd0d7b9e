package httpguard_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/bedrock-go/bedrock/lock/guard"
	"github.com/bedrock-go/bedrock/lock/guard/httpguard"
)

func Example() {
	orders := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "written") })
	service := httptest.NewServer(httpguard.Handler(orders, guard.NewMemory(nil), nil))
	defer service.Close()

	client := &http.Client{Transport: httpguard.NewTransport(nil)}
	for _, token := range []uint64{34, 33} { // a lease's context carries its own
		ctx := guard.ContextWithTicket(context.Background(), guard.Ticket{Name: "orders/42", Token: token})
		request, _ := http.NewRequestWithContext(ctx, http.MethodPut, service.URL, nil)
		response, err := client.Do(request)
		if err != nil {
			fmt.Println(err)
			return
		}
		response.Body.Close()
		fmt.Println(response.StatusCode, httpguard.Refusal(response))
	}
	// Output:
	// 200 <nil>
	// 412 lock "orders/42": token 33 is stale: the resource knows 34
}
