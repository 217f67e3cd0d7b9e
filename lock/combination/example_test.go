package combination_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/bedrock-go/bedrock/lock/combination"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// Example has two stores, which are taken in this order.
func Example() {
	nodes := []driver.Backend{memlock.NewBackend(nil), memlock.NewBackend(nil)}
	locks, err := combination.New(nodes, &combination.Options{NodeTimeout: time.Second})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	lease, err := locks.Mutex("orders/42", nil).Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("on", lease.Spread().Held, "stores,", lease.State())
	if err := lease.Unlock(ctx); err != nil {
		log.Fatal(err)
	}
	if err := locks.Stop(ctx); err != nil {
		log.Fatal(err)
	}
	// Output: on 2 stores, held
}
