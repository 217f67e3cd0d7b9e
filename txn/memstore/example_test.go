package memstore_test

import (
	"context"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

// Two replicas share a store. The first has claimed a transaction and is slow;
// when its lease is over, the second one takes over, and the first one's write is
// refused.
func Example() {
	ctx := context.Background()
	clock := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	store := memstore.New(&memstore.Options{Now: func() time.Time { return clock }})
	defer store.Close()
	rec := &driver.Record{ID: "order-42", Status: driver.Running, Due: clock}
	if err := store.Create(ctx, rec); err != nil {
		fmt.Println(err)
		return
	}

	first, _ := store.Claim(ctx, driver.Claim{Owner: "replica-1", Lease: time.Minute, Limit: 10})
	clock = clock.Add(2 * time.Minute)
	second, _ := store.Claim(ctx, driver.Claim{Owner: "replica-2", Lease: time.Minute, Limit: 10})

	slow := first.Records[0]
	fmt.Println(store.Update(ctx, slow.Version(), slow))
	next := second.Records[0]
	fmt.Println(store.Update(ctx, next.Version(), next), next.Epoch)
	// Output:
	// memstore: update "order-42": transaction was changed by somebody else
	// <nil> 2
}
