package redislock_test

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn/goredis"
)

// The locks use the client that the program has, and are those that Redisson sees.
func ExampleNew() {
	ctx := context.Background()
	rdb := redis.NewClient(&redis.Options{Addr: "127.0.0.1:6379"})
	defer rdb.Close()
	locks, err := redislock.New(goredis.Wrap(rdb), nil)
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

// A grant counts when most replicas have it, and the settings of the server that make
// locks unsafe are logged.
func ExampleNew_replicas() {
	ctx := context.Background()
	sentinels := []string{"a.example:26379", "b.example:26379", "c.example:26379"}
	rdb := redis.NewFailoverClient(&redis.FailoverOptions{MasterName: "mymaster", SentinelAddrs: sentinels})
	defer rdb.Close()
	locks, err := redislock.New(goredis.Wrap(rdb), &redislock.Options{
		Lock: lock.Options{TTL: 20 * time.Second, Logger: slog.Default()},
		Acks: redislock.AckMajority,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer locks.Stop(ctx)
}

// The locks are those of redsync, bsm/redislock and others that use SET NX.
func ExampleNew_besideRedsync() {
	rdb := redis.NewClient(&redis.Options{Addr: "127.0.0.1:6379"})
	defer rdb.Close()
	locks, err := redislock.New(goredis.Wrap(rdb), &redislock.Options{Profile: redislock.Redlock})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer locks.Stop(context.Background())
}
