package redisguard_test

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/guard"
	"github.com/bedrock-go/bedrock/lock/guard/redisguard"
	"github.com/bedrock-go/bedrock/redisconn/goredis"
)

func Example() {
	rdb := redis.NewClient(&redis.Options{Addr: "127.0.0.1:6379"}) // where the data is
	defer rdb.Close()
	prices, err := redisguard.New(goredis.Wrap(rdb), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	raise := redisguard.NewScript(`return redis.call('INCRBY', KEYS[1], ARGV[1])`)

	work := func(ctx context.Context, lease *lock.Lease) error {
		if err := prices.Announce(ctx, guard.Of(lease)); err != nil { // before the first read
			return err
		}
		_, err := prices.Run(ctx, guard.Of(lease), raise, []string{"price:{orders/42}"}, "5")
		return err // errors.Is(err, guard.ErrStale): somebody else has the lock by now
	}
	_ = work // lock.Do(ctx, locks.Mutex("orders/42", nil), …)
}
