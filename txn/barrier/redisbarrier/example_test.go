package redisbarrier_test

import (
	"encoding/json"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/redisconn/goredis"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/barrier/redisbarrier"
)

// A participant that takes goods from a stock, unless there are too few.
func Example() {
	type order struct {
		Item  string
		Count int
	}
	rdb := redis.NewClient(&redis.Options{Addr: "127.0.0.1:6379"})
	defer rdb.Close()
	b, err := redisbarrier.New(goredis.Wrap(rdb), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	deduct := redisbarrier.NewScript(`
		if tonumber(redis.call('GET', KEYS[1]) or 0) < tonumber(ARGV[1]) then
			return redis.error_reply('REFUSED not enough in stock')
		end
		return redis.call('DECRBY', KEYS[1], ARGV[1])`)

	participant := b.Func(deduct, func(call txn.Call) ([]string, []any, error) {
		var o order
		err := json.Unmarshal(call.Payload, &o)
		return []string{"stock:" + o.Item}, []any{o.Count}, err
	})
	_ = participant // co.Register("stock.deduct", participant)
}
