package server_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/bedrock-go/bedrock/console"
	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/lock/memlock"
	"github.com/bedrock-go/bedrock/server"
	"github.com/bedrock-go/bedrock/server/auth"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

// A coordinator and locks on the network, asked as curl would. A saga is submitted to it,
// and its outcome waited for.
func Example() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	co, err := coordinator(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	h, err := server.New(server.Services{
		Coordinator: co, Inspector: co, Operator: co, Topics: co, Locks: memlock.NewBackend(nil),
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, l, h, nil) }()

	answer, err := http.Post("http://"+l.Addr().String()+"/bedrock.v1.TransactionService/Submit", "application/json",
		strings.NewReader(`{"definition": {"mode": "saga", "steps": [
			{"id": "charge", "action": "pay.charge", "compensate": "pay.refund"}
		]}, "wait": true}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer answer.Body.Close()
	fmt.Println(answer.Status, answer.Header.Get("Bedrock-Outcome"))

	cancel()
	if err := errors.Join(<-served, co.Stop(context.Background())); err != nil {
		fmt.Println(err)
	}

	// Output:
	// 200 OK committed
}

func coordinator(ctx context.Context) (*coord.Coordinator, error) {
	co, err := coord.New(memstore.New(nil), nil)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"pay.charge", "pay.refund"} {
		if err := co.Register(name, func(context.Context, txn.Call) ([]byte, error) { return nil, nil }); err != nil {
			return nil, err
		}
	}
	return co, co.Start(ctx)
}

// A console, and a page of one's own, behind the tokens and limits of a server: nobody sees
// them without a token, and a page says which role it needs.
func ExampleMount() {
	token := auth.NewToken()
	tokens, err := auth.ParseTokens(strings.NewReader("viewer alice " + auth.HashToken(token)))
	if err != nil {
		fmt.Println(err)
		return
	}
	co, err := coord.New(memstore.New(nil), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	pages, err := console.New(co, &console.Options{Stopping: server.Stopping})
	if err != nil {
		fmt.Println(err)
		return
	}
	hello := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "hello "+auth.CredentialFrom(r.Context()).Name)
	}
	h, err := server.New(server.Services{Coordinator: co, Inspector: co}, &server.Options{
		Tokens: tokens,
		Mounts: []server.Mount{
			{Pattern: "/", Handler: pages},
			{Pattern: "GET /hello", Handler: http.HandlerFunc(hello)},
			{
				Pattern: "GET /secret", Handler: http.HandlerFunc(hello),
				Role: func(*http.Request) auth.Role { return auth.Admin },
			},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, path := range []string{"/hello", "/secret"} {
		for _, shown := range []string{"", "Bearer " + token} {
			r := httptest.NewRequest(http.MethodGet, path, http.NoBody)
			r.Header.Set("Authorization", shown)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			fmt.Println(path, w.Code, strings.TrimSpace(w.Body.String()))
		}
	}

	// Output:
	// /hello 401 unauthenticated: a valid token is needed
	// /hello 200 hello alice
	// /secret 401 unauthenticated: a valid token is needed
	// /secret 403 permission_denied: alice is viewer; this needs admin
}
