// Package goredis lets redislock use a go-redis client (version 9): alone, with
// Sentinel, or a cluster's.
package goredis

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/lock/redislock"
)

// Wrap makes a go-redis client usable by redislock. The client stays the
// caller's: it is never closed here, and its hooks see every command.
//
// Keep its read time-out finite, as it is by default: it ends the calls to a
// server that has vanished. After a call without an answer every idle connection
// of the pool is asked with a PING, and closed if it is silent for a second.
//
// Commands are not retried by go-redis, whatever its MaxRetries says: after a
// retry nobody could tell what the first try has done.
//
// A [redis.Ring] is refused by redislock.New: its servers know nothing of one
// another, and which of them has a name changes when one is away. Wrap the client
// of each, and let every name have one of them.
func Wrap(client redis.UniversalClient) redislock.Conn {
	c := &conn{client: client}
	c.cluster, _ = client.(clusterClient)
	return c
}

// clusterClient is a *redis.ClusterClient, or what somebody has wrapped around it.
type clusterClient interface {
	MasterForKey(ctx context.Context, key string) (*redis.Client, error)
	ForEachMaster(ctx context.Context, fn func(ctx context.Context, client *redis.Client) error) error
	ReloadState(ctx context.Context)
}

// ring is a *redis.Ring, or what somebody has wrapped around it.
type ring interface {
	SetAddrs(addrs map[string]string)
}

// Unusable implements redislock.Unusable.
func (c *conn) Unusable() error {
	if _, ok := c.client.(ring); ok {
		return errRing
	}
	return nil
}

var errRing = errors.New("redislock: conn is a *redis.Ring, whose servers know nothing of one another: wrap one server's client, or a cluster's")

// conn implements redislock.Conn.
type conn struct {
	client  redis.UniversalClient
	cluster clusterClient // nil when it is none

	mu      sync.Mutex
	masters map[string]*redis.Client // by address, as Owner has found them

	asking sync.Map // addresses of servers whose idle connections are being asked
}

var (
	_ redislock.Conn     = (*conn)(nil)
	_ redislock.Unusable = (*conn)(nil)
)

// Cluster implements redislock.Conn.
func (c *conn) Cluster() bool { return c.cluster != nil }

// Eval implements redislock.Conn.
func (c *conn) Eval(ctx context.Context, s *redislock.Script, keys, args []string) (redislock.Reply, error) {
	began := time.Now()
	answer, err := redislock.Await(ctx, func() (redislock.Reply, error) { return c.eval(undated(ctx), s, keys, args) })
	if unanswered(began, err) {
		c.suspect(keys[0])
	}
	return answer, err
}

func (c *conn) eval(ctx context.Context, s *redislock.Script, keys, args []string) (redislock.Reply, error) {
	cmd := newCommand(ctx, evalsha, s.SHA(), keys, args)
	err := c.client.Process(ctx, cmd)
	if isNoScript(err) {
		return c.evalText(ctx, s, keys, args)
	}
	return reply(cmd, err)
}

// evalText sends a script in full.
func (c *conn) evalText(ctx context.Context, s *redislock.Script, keys, args []string) (redislock.Reply, error) {
	cmd := newCommand(ctx, eval, s.Text(), keys, args)
	err := c.client.Process(ctx, cmd)
	return reply(cmd, err)
}

// EvalMany implements redislock.Conn.
func (c *conn) EvalMany(ctx context.Context, s *redislock.Script, calls []redislock.Call) []redislock.Result {
	began := time.Now()
	results := redislock.AwaitMany(ctx, len(calls), func() []redislock.Result { return c.evalMany(ctx, s, calls) })
	var silent []string
	for i := range results {
		if unanswered(began, results[i].Err) {
			silent = append(silent, calls[i].Keys[0])
		}
	}
	c.suspect(silent...)
	return results
}

func (c *conn) evalMany(ctx context.Context, s *redislock.Script, calls []redislock.Call) []redislock.Result {
	if len(calls) == 1 { // go-redis has other connections for pipelines, and makes them first
		var only redislock.Result
		only.Reply, only.Err = c.eval(ctx, s, calls[0].Keys, calls[0].Args)
		return []redislock.Result{only}
	}
	pipe := c.client.Pipeline()
	cmds := make([]*command, len(calls))
	for i, call := range calls {
		cmds[i] = newCommand(ctx, evalsha, s.SHA(), call.Keys, call.Args)
		_ = pipe.Process(ctx, cmds[i]) // a pipeline only collects here
	}
	_, _ = pipe.Exec(ctx) // every command has its own error
	results := make([]redislock.Result, len(calls))
	for i, cmd := range cmds {
		if isNoScript(cmd.Err()) {
			results[i].Reply, results[i].Err = c.evalText(ctx, s, calls[i].Keys, calls[i].Args)
			continue
		}
		results[i].Reply, results[i].Err = reply(cmd, cmd.Err())
	}
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
	got, err := redislock.Await(ctx, func() (acked, error) {
		ctx := undated(ctx)
		a, err := c.evalWait(ctx, evalsha, s.SHA(), call, replicas, timeout)
		if isNoScript(err) {
			a, err = c.evalWait(ctx, eval, s.Text(), call, replicas, timeout)
		}
		return a, err
	})
	if unanswered(began, err) {
		c.suspect(call.Keys[0])
	}
	return got.reply, got.replicas, err
}

// evalWait sends both commands in one pipeline to one server, which means over
// one connection.
func (c *conn) evalWait(
	ctx context.Context, verb string, script *string, call redislock.Call, replicas int, timeout time.Duration,
) (acked, error) {
	master, err := c.masterFor(ctx, call.Keys[0])
	if err != nil {
		return acked{}, classify(err)
	}
	pipe := reading(master, timeout).Pipeline()
	cmd := newCommand(ctx, verb, script, call.Keys, call.Args)
	_ = pipe.Process(ctx, cmd)
	wait := &command{Cmd: redis.NewCmd(ctx, "wait", replicas, timeout.Milliseconds())}
	_ = pipe.Process(ctx, wait)
	_, _ = pipe.Exec(ctx)
	answer, err := reply(cmd, cmd.Err())
	if err != nil {
		return acked{}, err
	}
	n, err := reply(wait, wait.Err())
	return acked{answer, int(n.Int)}, err
}

// masterFor returns the client of the one server that has key.
func (c *conn) masterFor(ctx context.Context, key string) (pipeliner, error) {
	if c.cluster == nil {
		return c.client, nil
	}
	return c.cluster.MasterForKey(ctx, key)
}

// pipeliner is a client that makes pipelines.
type pipeliner interface{ Pipeline() redis.Pipeliner }

// reading returns a client of the same server that reads an answer which the server takes
// so long to give. The client's own time-out is for the way there and back.
func reading(server pipeliner, takes time.Duration) pipeliner {
	own, ok := server.(interface {
		Options() *redis.Options
		WithTimeout(timeout time.Duration) *redis.Client
	})
	if !ok {
		return server
	}
	if limit := own.Options().ReadTimeout; limit > 0 && takes > limit/2 {
		return own.WithTimeout(takes + limit)
	}
	return server
}
