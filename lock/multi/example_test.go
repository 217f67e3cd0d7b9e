package multi_test

import (
	"context"
	"fmt"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/memlock"
	"github.com/bedrock-go/bedrock/lock/multi"
)

func Example() {
	ctx := context.Background()
	locks, err := memlock.New(nil, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = locks.Stop(ctx) }()

	both := multi.New([]lock.Lockable{locks.Mutex("stock/7", nil), locks.Mutex("orders/42", nil)}, nil)
	err = multi.Do(ctx, both, func(_ context.Context, l *multi.Lease) error {
		for _, lease := range l.Leases() {
			fmt.Println(lease.Name(), lease.State())
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// orders/42 held
	// stock/7 held
	// <nil>
}
