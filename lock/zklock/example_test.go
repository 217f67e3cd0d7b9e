package zklock_test

import (
	"context"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/election"
	"github.com/bedrock-go/bedrock/lock/zklock"
)

// The client has a session of its own, and the locks are below /bedrock/lock.
func ExampleConnect() {
	ctx := context.Background()
	locks, err := zklock.Connect(ctx, []string{"a.example:2181", "b.example:2181", "c.example:2181"}, nil)
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
	fmt.Println(lease.Token())
}

// The locks are those of Curator's InterProcessMutex on paths such as /locks/orders/42.
func ExampleConnect_besideCurator() {
	ctx := context.Background()
	locks, err := zklock.Connect(ctx, []string{"zookeeper.example:2181"}, &zklock.Options{
		Lock:    lock.Options{TTL: 15 * time.Second}, // a session of 20 s
		Profile: zklock.Curator, Root: "/locks",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer locks.Stop(ctx)
}

// The election is Curator's LeaderLatch on the path /leaders/scheduler.
func ExampleConnect_electionBesideCurator() {
	ctx := context.Background()
	locks, err := zklock.Connect(ctx, []string{"zookeeper.example:2181"}, &zklock.Options{
		Profile: zklock.CuratorLatch, Root: "/leaders",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer locks.Stop(ctx)

	err = election.New(locks, "scheduler", nil).Lead(ctx, func(ctx context.Context, _ *election.Term) error {
		<-ctx.Done() // until it does not lead any more
		return nil
	})
	fmt.Println(err)
}
