// Package rueidis lets Bedrock use a rueidis client: alone, with Sentinel, or
// a cluster's.
package rueidis

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"

	"github.com/bedrock-go/bedrock/internal/timelimit"
	"github.com/bedrock-go/bedrock/redisconn"
)

// Wrap makes a rueidis client usable by redisconn. The client stays the
// caller's: it is never closed here.
//
// Subscriptions take one connection of the client's pool for blocking commands,
// and with Options.Acks every acquisition takes one for a moment. Where
// BlockingPoolSize leaves no room for both, releases are not listened for. After a call
// without an answer others go over connections of that pool for 15 s, each asked with a
// PING first, unless the client is a cluster's: rueidis itself needs ConnWriteTimeout to
// find out that the connection it sends everything over has died.
//
// Of no client it makes no Conn, which whoever is given it refuses.
func Wrap(client rueidis.Client) redisconn.Conn {
	if client == nil {
		return nil
	}
	return &conn{client: client, cluster: client.Mode() == rueidis.ClientModeCluster, wrapped: time.Now()}
}

// conn implements redisconn.Conn.
type conn struct {
	client  rueidis.Client
	cluster bool

	acked      atomic.Bool  // calls wait for replicas
	wrapped    time.Time    // when this was made
	doubtUntil atomic.Int64 // until how long after that the shared connection is not relied upon

	mu     sync.Mutex
	ranges []slotRange // which master has which slots, as Owner has found it
}

var (
	_ redisconn.Conn    = (*conn)(nil)
	_ redisconn.Doubter = (*conn)(nil)
)

// Cluster implements redisconn.Conn.
func (c *conn) Cluster() bool { return c.cluster }

// Eval implements redisconn.Conn. rueidis does not heed a context while it
// makes a connection, nor one that is cancelled before its deadline; so a call
// that may have to end early is left to a goroutine of its own. Where rueidis does heed
// it, the request stays on its way, and nobody would know when that has ended; so it
// is not told.
func (c *conn) Eval(ctx context.Context, s *redisconn.Script, keys, args []string) (redisconn.Reply, error) {
	if err := c.checkSlots(keys); err != nil {
		return redisconn.Reply{}, err
	}
	began := time.Now()
	answer, err := redisconn.Await(ctx, func() (redisconn.Reply, error) { return c.eval(ctx, s, keys, args) })
	c.learn(began, err)
	return answer, err
}

func (c *conn) eval(ctx context.Context, s *redisconn.Script, keys, args []string) (redisconn.Reply, error) {
	line, done := c.trusted(ctx)
	defer done()
	if ctx.Err() != nil {
		return redisconn.Reply{}, unsent(ctx)
	}
	ctx, sent := unending(ctx), time.Now()
	result := line.Do(ctx, evalsha(line, s, keys, args))
	if isNoScript(result.Error()) {
		result = line.Do(ctx, eval(line, s, keys, args))
	}
	answer, err := reply(result)
	return answer, c.judged(sent, err)
}

// errSlots says of keys what a server would say: who keeps them chooses them together.
var errSlots = errors.New("keys of one call do not hash to the same slot of the cluster; give them one hash tag")

// checkSlots refuses keys of several slots of a cluster: rueidis panics when it meets them.
func (c *conn) checkSlots(keys []string) error {
	for i := 1; c.cluster && i < len(keys); i++ {
		if !redisconn.SameSlot(keys[0], keys[i]) {
			return redisconn.Mark(redisconn.Refused, errSlots)
		}
	}
	return nil
}

// unending returns a context that goes on when ctx ends. What it is for has time limits of
// its own.
func unending(ctx context.Context) context.Context {
	if caller, limit := timelimit.Ends(ctx); caller == nil && limit == nil {
		return ctx
	}
	return context.WithoutCancel(timelimit.Caller(ctx))
}

// unsent says that the caller has left before anything was sent for it.
func unsent(ctx context.Context) error { return redisconn.Mark(redisconn.Unavailable, ctx.Err()) }

// Pipeline implements redisconn.Conn. Its calls may have to end early as that of Eval.
func (c *conn) Pipeline(ctx context.Context, calls []redisconn.Call) []redisconn.Result {
	for i := range calls {
		if err := c.checkSlots(calls[i].Keys); err != nil {
			return slices.Insert(c.Pipeline(ctx, without(calls, i)), i, redisconn.Result{Err: err})
		}
	}
	began := time.Now()
	results := redisconn.AwaitMany(ctx, len(calls), func() []redisconn.Result { return c.pipeline(ctx, calls) })
	for i := range results {
		c.learn(began, results[i].Err)
	}
	return results
}

func without(calls []redisconn.Call, i int) []redisconn.Call {
	return slices.Delete(slices.Clone(calls), i, i+1)
}

func (c *conn) pipeline(ctx context.Context, calls []redisconn.Call) []redisconn.Result {
	line, done := c.trusted(ctx)
	defer done()
	results := make([]redisconn.Result, len(calls))
	if ctx.Err() != nil {
		for i := range results {
			results[i].Err = unsent(ctx)
		}
		return results
	}
	ctx = unending(ctx)
	cmds := make(rueidis.Commands, len(calls))
	for i := range calls {
		cmds[i] = newCommand(line, &calls[i])
	}
	sent := time.Now()
	answers := line.DoMulti(ctx, cmds...)
	c.sendUnknown(ctx, line, calls, answers)
	for i, answer := range answers {
		results[i].Reply, results[i].Err = reply(answer)
	}
	c.judgeAll(sent, results)
	return results
}

// sendUnknown sends in full the scripts that a server did not know.
func (c *conn) sendUnknown(
	ctx context.Context, line rueidis.CoreClient, calls []redisconn.Call, answers []rueidis.RedisResult,
) {
	var places []int
	var cmds rueidis.Commands
	for i, call := range calls {
		if call.Script != nil && isNoScript(answers[i].Error()) {
			places, cmds = append(places, i), append(cmds, eval(line, call.Script, call.Keys, call.Args))
		}
	}
	if len(cmds) == 0 {
		return
	}
	for i, answer := range line.DoMulti(ctx, cmds...) {
		answers[places[i]] = answer
	}
}

// acked is the result of EvalWait.
type acked struct {
	reply    redisconn.Reply
	replicas int
}

// EvalWait implements redisconn.Conn.
func (c *conn) EvalWait(
	ctx context.Context, call redisconn.Call, replicas int, timeout time.Duration,
) (redisconn.Reply, int, error) {
	if err := c.checkSlots(call.Keys); err != nil {
		return redisconn.Reply{}, 0, err
	}
	began := time.Now()
	got, err := redisconn.Await(ctx, func() (acked, error) { return c.evalWait(ctx, call, replicas, timeout) })
	c.learn(began, err)
	return got.reply, got.replicas, err
}

// evalWait sends both commands over a connection nobody else uses meanwhile.
func (c *conn) evalWait(
	ctx context.Context, call redisconn.Call, replicas int, timeout time.Duration,
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
	sent := time.Now()
	send := func(cmd rueidis.Completed) []rueidis.RedisResult {
		wait := pinned.B().Wait().Numreplicas(int64(replicas)).Timeout(timeout.Milliseconds()).Build()
		return pinned.DoMulti(ctx, cmd, wait)
	}
	results := send(evalsha(pinned, call.Script, call.Keys, call.Args))
	if isNoScript(results[0].Error()) {
		results = send(eval(pinned, call.Script, call.Keys, call.Args))
	}
	answer, err := reply(results[0])
	if err != nil {
		return acked{}, c.judged(sent, err)
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

func evalsha(b builder, s *redisconn.Script, keys, args []string) rueidis.Completed {
	return b.B().Evalsha().Sha1(*s.SHA()).Numkeys(int64(len(keys))).Key(keys...).Arg(args...).Build()
}

func eval(b builder, s *redisconn.Script, keys, args []string) rueidis.Completed {
	return b.B().Eval().Script(*s.Text()).Numkeys(int64(len(keys))).Key(keys...).Arg(args...).Build()
}

// newCommand makes the command of a call; a script goes by its digest.
func newCommand(b builder, call *redisconn.Call) rueidis.Completed {
	if call.Script != nil {
		return evalsha(b, call.Script, call.Keys, call.Args)
	}
	return b.B().Arbitrary(call.Command).Keys(call.Keys...).Args(call.Args...).Build()
}

func isNoScript(err error) bool {
	answered, ok := rueidis.IsRedisErr(err)
	return ok && answered.IsNoScript()
}
