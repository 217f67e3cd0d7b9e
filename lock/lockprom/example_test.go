package lockprom_test

import (
	"context"
	"fmt"

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
		fmt.Println(err)
		return
	}
	locks, err := memlock.New(nil, &lock.Options{Observer: observer})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer locks.Stop(ctx)

	lease, err := locks.Mutex("orders/42", nil).Lock(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer lease.Unlock(ctx)

	families, err := registry.Gather()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, family := range families {
		fmt.Println(family.GetName())
	}
	// Output:
	// bedrock_lock_acquired_total
	// bedrock_lock_asked_total
	// bedrock_lock_leases
	// bedrock_lock_left_total
	// bedrock_lock_lost_total
	// bedrock_lock_overdue_total
	// bedrock_lock_queued
	// bedrock_lock_refused_total
	// bedrock_lock_renewed_total
	// bedrock_lock_wait_seconds
}
