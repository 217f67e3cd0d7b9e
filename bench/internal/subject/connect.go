package subject

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
)

// Names of the two Redis clients.
const (
	goredisClient = "goredis"
	rueidisClient = "rueidis"
)

// dialGoredis connects a go-redis client with its default settings; answers take so much longer.
func dialGoredis(ctx context.Context, addr string, delay time.Duration) (*redis.Client, error) {
	options := &redis.Options{Addr: addr}
	if delay > 0 {
		options.Dialer = farDialer(delay)
	}
	rdb := redis.NewClient(options)
	if err := rdb.Ping(ctx).Err(); err != nil {
		return nil, fmt.Errorf("connect go-redis to %s: %w", addr, err)
	}
	return rdb, nil
}

// dialRueidis connects a rueidis client with its default settings.
func dialRueidis(addr string) (rueidis.Client, error) {
	client, err := rueidis.NewClient(rueidisOption(addr))
	if err != nil {
		return nil, fmt.Errorf("connect rueidis to %s: %w", addr, err)
	}
	return client, nil
}

// rueidisOption returns rueidis's default settings for addr.
func rueidisOption(addr string) rueidis.ClientOption {
	return rueidis.ClientOption{InitAddress: []string{addr}}
}
