// Package rueidis lets redislock use a rueidis client: alone, with Sentinel, or
// a cluster's.
package rueidis

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/redislock"
)

// Wrap makes a rueidis client usable by redislock. The client stays the
// caller's: it is never closed here.
//
// Subscriptions take one connection of the client's pool for blocking commands,
// and with Options.Acks every acquisition takes one for a moment. Where
// BlockingPoolSize leaves no room for both, releases are not listened for. After a call
// without an answer others go over connections of that pool for 15 s, each asked with a
// PING first, unless the client is a cluster's: rueidis itself needs ConnWriteTimeout to
// find out that the connection it sends everything over has died.
func Wrap(client rueidis.Client) redislock.Conn {
	return &conn{client: client, cluster: client.Mode() == rueidis.ClientModeCluster, wrapped: time.Now()}
}

// conn implements redislock.Conn.
type conn struct {
	client  rueidis.Client
	cluster bool

	acked      atomic.Bool  // calls wait for replicas
	wrapped    time.Time    // when this was made
	doubtUntil atomic.Int64 // until how long after that the shared connection is not relied upon

	mu     sync.Mutex
	ranges []slotRange // which master has which slots, as Owner has found it
}

var _ redislock.Conn = (*conn)(nil)

// Cluster implements redislock.Conn.
func (c *conn) Cluster() bool { return c.cluster }

// Eval implements redislock.Conn. rueidis does not heed a context while it
// makes a connection, nor one that is cancelled before its deadline; so a call
// that may have to end early is left to a goroutine of its own. Where rueidis does heed
// it, the request stays on its way, and nobody would know when that has ended; so it
// is not told.
func (c *conn) Eval(ctx context.Context, s *redislock.Script, keys, args []string) (redislock.Reply, error) {
	began := time.Now()
	answer, err := redislock.Await(ctx, func() (redislock.Reply, error) { return c.eval(ctx, s, keys, args) })
	c.learn(began, err)
	return answer, err
}

func (c *conn) eval(ctx context.Context, s *redislock.Script, keys, args []string) (redislock.Reply, error) {
	line, done := c.line(ctx)
	defer done()
	if ctx.Err() != nil {
		return redislock.Reply{}, unsent(ctx)
	}
	ctx = unending(ctx)
	result := line.Do(ctx, evalsha(line, s, keys, args))
	if isNoScript(result.Error()) {
		result = line.Do(ctx, eval(line, s, keys, args))
	}
	answer, err := reply(result)
	return answer, c.judged(err)
}

// unending returns a context that goes on when ctx ends. What it is for has time limits of
// its own.
func unending(ctx context.Context) context.Context {
	if ctx.Done() == nil {
		return ctx
	}
	return context.WithoutCancel(ctx)
}

// unsent says that the caller has left before anything was sent for it.
func unsent(ctx context.Context) error { return fmt.Errorf("%w: %w", driver.ErrUnavailable, ctx.Err()) }

// EvalMany implements redislock.Conn. Its requests give nobody anything, so that nobody
// need know when they have ended.
func (c *conn) EvalMany(ctx context.Context, s *redislock.Script, calls []redislock.Call) []redislock.Result {
	began := time.Now()
	results := redislock.AwaitMany(ctx, len(calls), func() []redislock.Result { return c.evalMany(ctx, s, calls) })
	for i := range results {
		c.learn(began, results[i].Err)
	}
	return results
}

func (c *conn) evalMany(ctx context.Context, s *redislock.Script, calls []redislock.Call) []redislock.Result {
	line, done := c.line(ctx)
	defer done()
	cmds := make(rueidis.Commands, len(calls))
	for i, call := range calls {
		cmds[i] = evalsha(line, s, call.Keys, call.Args)
	}
	results := make([]redislock.Result, len(calls))
	for i, result := range line.DoMulti(ctx, cmds...) {
		if isNoScript(result.Error()) {
			result = line.Do(ctx, eval(line, s, calls[i].Keys, calls[i].Args))
		}
		results[i].Reply, results[i].Err = reply(result)
	}
	c.judgeAll(results)
	return results
}

// acked is the result of EvalWait.
type acked struct {
	reply    redislock.Reply
	replicas int
}

// EvalWait implements redislock.Conn.
func (c *conn) EvalWait(
	ctx context.Context, s *redislock.Script, call redislock.Call, replicas int, timeout time.Duration,
) (redislock.Reply, int, error) {
	began := time.Now()
	got, err := redislock.Await(ctx, func() (acked, error) { return c.evalWait(ctx, s, call, replicas, timeout) })
	c.learn(began, err)
	return got.reply, got.replicas, err
}

// evalWait sends both commands over a connection nobody else uses meanwhile.
func (c *conn) evalWait(
	ctx context.Context, s *redislock.Script, call redislock.Call, replicas int, timeout time.Duration,
) (acked, error) {
	c.acked.Store(true)
	pinned, err := c.pin(ctx)
	if err != nil {
		return acked{}, err
	}
	defer pinned.release()
	ctx, cancel := c.sending(ctx, timeout)
	defer cancel()
	if ctx.Err() != nil {
		return acked{}, unsent(ctx)
	}
	send := func(cmd rueidis.Completed) []rueidis.RedisResult {
		wait := pinned.B().Wait().Numreplicas(int64(replicas)).Timeout(timeout.Milliseconds()).Build()
		return pinned.DoMulti(ctx, cmd, wait)
	}
	results := send(evalsha(pinned, s, call.Keys, call.Args))
	if isNoScript(results[0].Error()) {
		results = send(eval(pinned, s, call.Keys, call.Args))
	}
	answer, err := reply(results[0])
	if err != nil {
		return acked{}, c.judged(err)
	}
	n, err := reply(results[1])
	return acked{answer, int(n.Int)}, err
}

// answerTime is how long an answer may take that nobody waits for any more: rueidis sets no
// limit to a command that blocks.
const answerTime = 10 * time.Second

// sending returns the context of a call over a connection of its own. A cluster's takes one
// from the pool as late as at the first command, which must not go on when its caller has
// left.
func (c *conn) sending(ctx context.Context, wait time.Duration) (context.Context, context.CancelFunc) {
	if c.cluster || ctx.Err() != nil {
		return ctx, func() {}
	}
	return context.WithTimeout(unending(ctx), wait+answerTime)
}

// pin takes a connection that nobody else uses meanwhile.
func (c *conn) pin(ctx context.Context) (*dedicated, error) {
	if c.doubts() {
		return c.proven(ctx)
	}
	return dedicate(ctx, c.client)
}

// builder makes commands.
type builder interface{ B() rueidis.Builder }

func evalsha(b builder, s *redislock.Script, keys, args []string) rueidis.Completed {
	return b.B().Evalsha().Sha1(*s.SHA()).Numkeys(int64(len(keys))).Key(keys...).Arg(args...).Build()
}

func eval(b builder, s *redislock.Script, keys, args []string) rueidis.Completed {
	return b.B().Eval().Script(*s.Text()).Numkeys(int64(len(keys))).Key(keys...).Arg(args...).Build()
}

func isNoScript(err error) bool {
	answered, ok := rueidis.IsRedisErr(err)
	return ok && answered.IsNoScript()
}
