package client_test

import (
	"context"
	"fmt"
	"net"

	"github.com/bedrock-go/bedrock/client"
	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/memlock"
	"github.com/bedrock-go/bedrock/server"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/memstore"
	"github.com/bedrock-go/bedrock/txn/saga"
)

// A server in the same process, and a client that runs a saga and takes a lock over
// the network.
func Example() {
	ctx, cancel := context.WithCancel(context.Background())
	address, stopped, err := exampleServer(ctx)
	if err != nil {
		fmt.Println(err)
		cancel()
		return
	}
	if err := useServer(ctx, address); err != nil {
		fmt.Println(err)
	}
	cancel()
	<-stopped

	// Output:
	// committed
	// lock orders/42 with a token: true
}

func useServer(ctx context.Context, address string) error {
	c, err := client.Dial(address, nil)
	if err != nil {
		return err
	}
	defer c.Close()
	result, err := saga.New("order").
		Step("stock", "stock.deduct", "stock.restore").
		Step("pay", "pay.charge", "pay.refund").
		Run(ctx, c, map[string]int{"amount": 3})
	if err != nil {
		return err
	}
	fmt.Println(result.Outcome)

	locks, err := lock.New(c.Backend(), nil)
	if err != nil {
		return err
	}
	defer locks.Stop(ctx)
	lease, err := locks.Mutex("orders/42", nil).Lock(ctx)
	if err != nil {
		return err
	}
	fmt.Println("lock", lease.Name(), "with a token:", lease.Token() > 0)
	return lease.Unlock(ctx)
}

func exampleServer(ctx context.Context) (address string, stopped <-chan error, err error) {
	co, err := coord.New(memstore.New(nil), nil)
	if err != nil {
		return "", nil, err
	}
	for _, name := range []string{"stock.deduct", "stock.restore", "pay.charge", "pay.refund"} {
		if err := co.Register(name, func(context.Context, txn.Call) ([]byte, error) { return nil, nil }); err != nil {
			return "", nil, err
		}
	}
	if err := co.Start(ctx); err != nil {
		return "", nil, err
	}
	h, err := server.New(server.Services{
		Coordinator: co, Inspector: co, Operator: co, Topics: co, Locks: memlock.NewBackend(nil),
	}, nil)
	if err != nil {
		return "", nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	done := make(chan error, 1)
	go func() {
		err := server.Serve(ctx, l, h, nil)
		_ = co.Stop(context.WithoutCancel(ctx))
		done <- err
	}()
	return "http://" + l.Addr().String(), done, nil
}
