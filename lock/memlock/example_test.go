package memlock_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// Clients of one store exclude each other, as services on one Redis do.
func ExampleNew() {
	ctx := context.Background()
	store := memlock.NewStore(nil)
	newClient := func() *lock.Client {
		locks, err := memlock.New(store, nil)
		if err != nil {
			log.Fatal(err)
		}
		return locks
	}
	one, other := newClient(), newClient()
	defer one.Stop(ctx)
	defer other.Stop(ctx)

	lease, err := one.Mutex("orders/42", nil).Lock(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = other.Mutex("orders/42", nil).TryLock(ctx)
	fmt.Println("held by one:", errors.Is(err, lock.ErrHeld))
	if err := lease.Unlock(ctx); err != nil {
		fmt.Println(err)
		return
	}
	lease, err = other.Mutex("orders/42", nil).TryLock(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer lease.Unlock(ctx)
	fmt.Println("held by the other:", lease.State())
	// Output:
	// held by one: true
	// held by the other: held
}
