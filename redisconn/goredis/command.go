package goredis

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/redisconn"
)

const (
	evalsha = "evalsha"
	eval    = "eval"
)

// command is a command that go-redis does not retry.
type command struct{ *redis.Cmd }

// NoRetry implements redis.Cmder.
func (command) NoRetry() bool { return true }

// newEval makes an EVAL or EVALSHA. It refers to the strings rather than
// copy them: an interface that holds a string costs a piece of memory, unless the
// string is a constant, as verb is.
func newEval(ctx context.Context, verb any, script *string, keys, args []string) *command {
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

// newCommand makes the command of a call; a script goes by its digest.
func newCommand(ctx context.Context, call *redisconn.Call) *command {
	if call.Script != nil {
		return newEval(ctx, evalsha, call.Script.SHA(), call.Keys, call.Args)
	}
	all := append(make([]any, 0, 1+len(call.Keys)+len(call.Args)), &call.Command)
	for i := range call.Keys {
		all = append(all, &call.Keys[i])
	}
	for i := range call.Args {
		all = append(all, &call.Args[i])
	}
	cmd := &command{redis.NewCmd(ctx, all...)}
	if len(call.Keys) > 0 {
		cmd.SetFirstKeyPos(1)
	}
	return cmd
}

func isNoScript(err error) bool { return err != nil && redis.HasErrorPrefix(err, "NOSCRIPT") }

// reply translates a command's outcome.
func reply(cmd *command, err error) (redisconn.Reply, error) {
	if errors.Is(err, redis.Nil) {
		return redisconn.Reply{Nil: true}, nil
	}
	if err != nil {
		return redisconn.Reply{}, classify(err)
	}
	return translate(cmd.Val()), nil
}

// translate turns a value of go-redis into a reply.
func translate(value any) redisconn.Reply {
	switch v := value.(type) {
	case nil:
		return redisconn.Reply{Nil: true}
	case int64:
		return redisconn.Reply{Int: v}
	case string:
		return redisconn.Reply{Str: v}
	case []any:
		return redisconn.Reply{List: list(v)}
	case map[any]any:
		items := make(list, 0, 2*len(v))
		for key, value := range v {
			items = append(items, key, value)
		}
		return redisconn.Reply{List: items}
	default:
		return redisconn.Reply{Str: fmt.Sprint(v)}
	}
}

// list is an array of go-redis.
type list []any

// Len implements redisconn.List.
func (l list) Len() int { return len(l) }

// At implements redisconn.List.
func (l list) At(i int) redisconn.Reply { return translate(l[i]) }

// classify tells what the server has answered from what happened on the way.
func classify(err error) error {
	var answered redis.Error
	switch {
	case errors.Is(err, redis.ErrClosed):
		return redisconn.Mark(redisconn.Refused, err)
	case errors.Is(err, redis.ErrPoolTimeout), errors.Is(err, redis.ErrPoolExhausted):
		return redisconn.Mark(redisconn.Unavailable, err)
	case errors.As(err, &answered):
		return &redisconn.ReplyError{Cause: err}
	default:
		return err
	}
}
