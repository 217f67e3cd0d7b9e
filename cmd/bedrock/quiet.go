package main

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// quietRedis keeps the Redis client from writing its own log between the lines
// of a command: whatever matters comes back as an error.
func quietRedis() { redis.SetLogger(silence{}) }

type silence struct{}

// Printf drops the message.
func (silence) Printf(context.Context, string, ...any) {}
