package etcdlock_test

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/bedrock-go/bedrock/lock/etcdlock"
)

// The locks use the client that the program has.
func ExampleNew() {
	ctx := context.Background()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"127.0.0.1:2379"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	locks, err := etcdlock.New(client, nil)
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

// The locks are those of etcdctl lock, and of concurrency.Mutex.
func ExampleNew_besideEtcdctl() {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"127.0.0.1:2379"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	locks, err := etcdlock.New(client, &etcdlock.Options{Profile: etcdlock.Compatible})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer locks.Stop(context.Background())
}
