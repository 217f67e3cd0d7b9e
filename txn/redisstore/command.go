package redisstore

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// command is a command that go-redis does not retry: after a retry nobody could
// tell what the first try has done.
type command struct {
	*redis.Cmd
	script *script // that it runs, if any
}

// NoRetry implements [redis.Cmder].
func (*command) NoRetry() bool { return true }

// firstKey is where the first key stands in EVAL and EVALSHA.
const firstKey = 3

// run makes a command that runs a script. It refers to the strings rather than
// copy them: an interface that holds a string costs a piece of memory.
func run(s *script, keys, args []string) *command {
	all := make([]any, firstKey, firstKey+len(keys)+len(args))
	all[0], all[1], all[2] = "evalsha", &s.sha, len(keys)
	for i := range keys {
		all = append(all, &keys[i])
	}
	for i := range args {
		all = append(all, &args[i])
	}
	c := &command{Cmd: redis.NewCmd(context.Background(), all...), script: s}
	c.SetFirstKeyPos(firstKey)
	return c
}

// do makes a plain command.
func do(args ...any) *command {
	return &command{Cmd: redis.NewCmd(context.Background(), args...)}
}

// inFull makes a command carry its script, for a server that does not know it.
func (c *command) inFull() {
	args := c.Args()
	args[0], args[1] = "eval", &c.script.text
	c.Cmd = redis.NewCmd(context.Background(), args...)
	c.SetFirstKeyPos(firstKey)
}

// unknownScript tells whether the server refused the command only because it
// does not know the script.
func (c *command) unknownScript() bool {
	err := c.Err()
	return err != nil && c.script != nil && redis.HasErrorPrefix(err, "NOSCRIPT")
}
