package lockprom_test

import (
	"context"
	"fmt"
	"log"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/lockprom"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

func ExampleNew() {
	ctx := context.Background()
	registry := prometheus.NewRegistry()
	observer, err := lockprom.New(registry, nil)
	if err != nil {
		log.Fatal(err)
	}
	locks, err := memlock.New(nil, &lock.Options{Observer: observer})
	if err != nil {
		log.Fatal(err)
	}
	defer locks.Close(ctx)

	lease, err := locks.Mutex("orders/42", nil).Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Unlock(ctx)

	families, err := registry.Gather()
	if err != nil {
		log.Fatal(err)
	}
	for _, family := range families {
		fmt.Println(family.GetName())
	}
	// Output:
	// bedrock_lock_acquired_total
	// bedrock_lock_leases
	// bedrock_lock_queued
	// bedrock_lock_wait_seconds
}
