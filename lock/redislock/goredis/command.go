package goredis

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/redislock"
)

const (
	evalsha = "evalsha"
	eval    = "eval"
)

// command is a command that go-redis does not retry.
type command struct{ *redis.Cmd }

// NoRetry implements redis.Cmder.
func (command) NoRetry() bool { return true }

// newCommand makes an EVAL or EVALSHA. It refers to the strings rather than
// copy them: an interface that holds a string costs a piece of memory.
func newCommand(ctx context.Context, verb string, script *string, keys, args []string) *command {
	all := make([]any, 3, 3+len(keys)+len(args))
	all[0], all[1], all[2] = verb, script, len(keys)
	for i := range keys {
		all = append(all, &keys[i])
	}
	for i := range args {
		all = append(all, &args[i])
	}
	cmd := &command{redis.NewCmd(ctx, all...)}
	cmd.SetFirstKeyPos(3)
	return cmd
}

func isNoScript(err error) bool { return err != nil && redis.HasErrorPrefix(err, "NOSCRIPT") }

// reply translates a command's outcome.
func reply(cmd *command, err error) (redislock.Reply, error) {
	if errors.Is(err, redis.Nil) {
		return redislock.Reply{Nil: true}, nil
	}
	if err != nil {
		return redislock.Reply{}, classify(err)
	}
	return translate(cmd.Val()), nil
}

// translate turns a value of go-redis into a reply.
func translate(value any) redislock.Reply {
	switch v := value.(type) {
	case nil:
		return redislock.Reply{Nil: true}
	case int64:
		return redislock.Reply{Int: v}
	case string:
		return redislock.Reply{Str: v}
	case []any:
		items := make([]redislock.Reply, len(v))
		for i := range v {
			items[i] = translate(v[i])
		}
		return redislock.Reply{Items: items}
	case map[any]any:
		items := make([]redislock.Reply, 0, 2*len(v))
		for key, value := range v {
			items = append(items, translate(key), translate(value))
		}
		return redislock.Reply{Items: items}
	default:
		return redislock.Reply{Str: fmt.Sprint(v)}
	}
}

// classify tells what the server has answered from what happened on the way.
func classify(err error) error {
	var answered redis.Error
	switch {
	case errors.Is(err, redis.ErrClosed):
		return fmt.Errorf("%w: %w", driver.ErrRefused, err)
	case errors.Is(err, redis.ErrPoolTimeout), errors.Is(err, redis.ErrPoolExhausted):
		return fmt.Errorf("%w: %w", driver.ErrUnavailable, err)
	case errors.As(err, &answered):
		return &redislock.ReplyError{Cause: err}
	default:
		return err
	}
}
