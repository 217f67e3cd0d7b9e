package guard_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/bedrock-go/bedrock/lock/guard"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

func Example() {
	ctx := context.Background()
	locks, err := memlock.New(nil, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer locks.Stop(ctx)
	price, prices := 100, guard.NewMemory(nil) // the resource, and what guards it

	first, _ := locks.Mutex("price", nil).Lock(ctx)
	_ = first.Unlock(ctx) // it was lost, say, while the holder was paused
	second, _ := locks.Mutex("price", nil).Lock(ctx)
	defer second.Unlock(ctx)

	_ = prices.Announce(ctx, guard.Of(second)) // before the first read
	err = prices.Do(ctx, guard.Of(first), func() error { price = 50; return nil })
	fmt.Println("late:", errors.Is(err, guard.ErrStale), price)
	err = prices.Do(ctx, guard.Of(second), func() error { price++; return nil })
	fmt.Println("now:", err, price)
	// Output:
	// late: true 100
	// now: <nil> 101
}
