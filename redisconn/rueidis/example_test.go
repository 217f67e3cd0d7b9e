package rueidis_test

import (
	"context"
	"fmt"

	client "github.com/redis/rueidis"

	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn/rueidis"
)

func ExampleWrap() {
	rdb, err := client.NewClient(client.ClientOption{InitAddress: []string{"127.0.0.1:6379"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer rdb.Close()
	locks, err := redislock.New(rueidis.Wrap(rdb), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer locks.Stop(context.Background())
}
