package etcdguard_test

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/guard"
	"github.com/bedrock-go/bedrock/lock/guard/etcdguard"
)

func Example() {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"127.0.0.1:2379"}}) // where the data is
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	prices, err := etcdguard.New(client, nil)
	if err != nil {
		fmt.Println(err)
		return
	}

	work := func(ctx context.Context, lease *lock.Lease) error {
		if err := prices.Announce(ctx, guard.Of(lease)); err != nil { // before the first read
			return err
		}
		_, err := prices.Commit(ctx, guard.Of(lease), etcdguard.Txn{
			Then: []clientv3.Op{clientv3.OpPut("price/42", "100"), clientv3.OpDelete("offer/42")},
		})
		return err // errors.Is(err, guard.ErrStale): somebody else has the lock by now
	}
	_ = work // lock.Do(ctx, locks.Mutex("orders/42", nil), …)
}
