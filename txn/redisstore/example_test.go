package redisstore_test

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/redisconn/goredis"
	"github.com/bedrock-go/bedrock/txn/redisstore"
)

// The store uses the client the program has, and says what it can rely on.
func ExampleNew() {
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:6379"})
	defer client.Close()
	store, err := redisstore.New(context.Background(), goredis.Wrap(client), nil)
	if err != nil {
		fmt.Println(err) // such as: appendonly is off
		return
	}
	defer store.Close()
	fmt.Println(store.Persistence())
}
