package goredis_test

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn/goredis"
)

// A cluster's client is wrapped like any other.
func ExampleWrap() {
	rdb := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"a.example:6379", "b.example:6379"}})
	defer rdb.Close()
	locks, err := redislock.New(goredis.Wrap(rdb), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer locks.Stop(context.Background())
}
