package console_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/bedrock-go/bedrock/console"
	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/memstore"
	"github.com/bedrock-go/bedrock/txn/saga"
)

// A console of a coordinator in the same process, for reading only. Package server puts it
// behind tokens, as one of its mounts.
func Example() {
	ctx := context.Background()
	co, err := coord.New(memstore.New(nil), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	done := func(context.Context, txn.Call) ([]byte, error) { return nil, nil }
	if err := co.Register("pay.charge", done); err != nil {
		fmt.Println(err)
		return
	}
	if err := co.Start(ctx); err != nil {
		fmt.Println(err)
		return
	}
	defer co.Stop(ctx)
	if _, err := saga.New("order").Step("pay", "pay.charge", "").ID("o-42").Run(ctx, co, nil); err != nil {
		fmt.Println(err)
		return
	}

	pages, err := console.New(co, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	w := httptest.NewRecorder()
	pages.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/transactions?status=committed", http.NoBody))
	fmt.Println(w.Code, "lists the order:", strings.Contains(w.Body.String(), "o-42"))

	// Output:
	// 200 lists the order: true
}
