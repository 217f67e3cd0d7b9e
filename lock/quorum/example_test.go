package quorum_test

import (
	"context"
	"fmt"
	"log"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
	"github.com/bedrock-go/bedrock/lock/quorum"
)

// Example has three stores, any one of which may fail.
func Example() {
	nodes := []driver.Backend{memlock.NewBackend(nil), memlock.NewBackend(nil), memlock.NewBackend(nil)}
	locks, err := quorum.New(nodes, &quorum.Options{Quarantine: -1})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	lease, err := locks.Mutex("orders/42", nil).Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(lease.Spread().Stores, "stores,", lease.State())
	if err := lease.Unlock(ctx); err != nil {
		log.Fatal(err)
	}
	if err := locks.Stop(ctx); err != nil {
		log.Fatal(err)
	}
	// Output: 3 stores, held
}
