// Package goredis lets Bedrock use a go-redis client (version 9): alone, with
// Sentinel, or a cluster's.
package goredis

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/redisconn"
	"github.com/bedrock-go/bedrock/redisconn/internal/silence"
)

// Wrap makes a go-redis client usable by redisconn. The client stays the
// caller's: it is never closed here, and its hooks see every command of locks and
// transactions but those with a time-out of their own, as with Acks.
//
// Keep its read time-out finite, as it is by default: it ends the calls to a
// server that has vanished. After a call without an answer every idle connection
// of the pool is asked with a PING, and closed if it is silent for a second.
//
// Commands are not retried by go-redis, whatever its MaxRetries says: after a
// retry nobody could tell what the first try has done.
//
// Over a [redis.Ring] there are barriers, but no locks and no transactions: its servers
// know nothing of one another, and which of them has a name changes when one is away.
// Wrap the client of each, and let every name have one of them.
//
// Of no client it makes no Conn, which whoever is given it refuses.
func Wrap(client redis.UniversalClient) redisconn.Conn {
	if v := reflect.ValueOf(client); client == nil || v.Kind() == reflect.Pointer && v.IsNil() {
		return nil
	}
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
	ForEachShard(ctx context.Context, fn func(ctx context.Context, client *redis.Client) error) error
}

// Scattered implements redisconn.Scattered.
func (c *conn) Scattered() error {
	if _, ok := c.client.(ring); ok {
		return errRing
	}
	return nil
}

var errRing = errors.New(
	"conn is a *redis.Ring, whose servers know nothing of one another: wrap one server's client, or a cluster's",
)

// conn implements redisconn.Conn.
type conn struct {
	client  redis.UniversalClient
	cluster clusterClient // nil when it is none

	mu      sync.Mutex
	masters map[string]*redis.Client // by address, as Owner has found them

	doubts doubts
	asking sync.Map // addresses of servers whose idle connections are being asked
}

var (
	_ redisconn.Conn      = (*conn)(nil)
	_ redisconn.Scattered = (*conn)(nil)
	_ redisconn.Doubter   = (*conn)(nil)
)

// Cluster implements redisconn.Conn.
func (c *conn) Cluster() bool { return c.cluster != nil }

// Eval implements redisconn.Conn.
func (c *conn) Eval(ctx context.Context, s *redisconn.Script, keys, args []string) (redisconn.Reply, error) {
	if err := c.undoubted(ctx, keys); err != nil {
		return redisconn.Reply{}, err
	}
	began := time.Now()
	answer, err := redisconn.Await(ctx, func() (redisconn.Reply, error) { return c.eval(undated(ctx), s, keys, args) })
	if len(keys) > 0 {
		c.Doubt(began, err, keys[0])
	}
	return answer, err
}

func (c *conn) eval(ctx context.Context, s *redisconn.Script, keys, args []string) (redisconn.Reply, error) {
	cmd := newEval(ctx, evalsha, s.SHA(), keys, args)
	err := c.client.Process(ctx, cmd)
	if isNoScript(err) {
		return c.evalText(ctx, s, keys, args)
	}
	return reply(cmd, err)
}

// evalText sends a script in full.
func (c *conn) evalText(ctx context.Context, s *redisconn.Script, keys, args []string) (redisconn.Reply, error) {
	cmd := newEval(ctx, eval, s.Text(), keys, args)
	err := c.client.Process(ctx, cmd)
	return reply(cmd, err)
}

// Pipeline implements redisconn.Conn.
func (c *conn) Pipeline(ctx context.Context, calls []redisconn.Call) []redisconn.Result {
	if err := c.allUndoubted(ctx, calls); err != nil {
		return slices.Repeat([]redisconn.Result{{Err: err}}, len(calls))
	}
	began := time.Now()
	results := redisconn.AwaitMany(ctx, len(calls), func() []redisconn.Result {
		return c.pipeline(undated(ctx), calls)
	})
	var silent []string
	for i := range results {
		if silence.Met(began, results[i].Err) {
			silent = append(silent, calls[i].Keys[:min(len(calls[i].Keys), 1)]...) // one tells the server
		}
	}
	c.suspect(silent...)
	return results
}

func (c *conn) pipeline(ctx context.Context, calls []redisconn.Call) []redisconn.Result {
	results := make([]redisconn.Result, len(calls))
	if len(calls) == 1 { // go-redis has other connections for pipelines, and makes them first
		results[0].Reply, results[0].Err = c.alone(ctx, &calls[0])
		return results
	}
	cmds := make([]*command, len(calls))
	for i := range calls {
		cmds[i] = newCommand(ctx, &calls[i])
	}
	c.exec(ctx, cmds)
	c.execUnknown(ctx, calls, cmds)
	for i, cmd := range cmds {
		results[i].Reply, results[i].Err = reply(cmd, cmd.Err())
	}
	return results
}

// alone makes a call that no other goes with.
func (c *conn) alone(ctx context.Context, call *redisconn.Call) (redisconn.Reply, error) {
	if call.Script != nil {
		return c.eval(ctx, call.Script, call.Keys, call.Args)
	}
	cmd := newCommand(ctx, call)
	err := c.client.Process(ctx, cmd)
	return reply(cmd, err)
}

// execUnknown sends in full the scripts that a server did not know.
func (c *conn) execUnknown(ctx context.Context, calls []redisconn.Call, cmds []*command) {
	var unknown []*command
	for i, cmd := range cmds {
		if call := &calls[i]; call.Script != nil && isNoScript(cmd.Err()) {
			cmds[i] = newEval(ctx, eval, call.Script.Text(), call.Keys, call.Args)
			unknown = append(unknown, cmds[i])
		}
	}
	if len(unknown) > 0 {
		c.exec(ctx, unknown)
	}
}

// exec sends commands in one pipeline.
func (c *conn) exec(ctx context.Context, cmds []*command) {
	pipe := c.client.Pipeline()
	for _, cmd := range cmds {
		_ = pipe.Process(ctx, cmd) // a pipeline only collects here
	}
	_, _ = pipe.Exec(ctx) // every command has its own error
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
	if err := c.undoubted(ctx, call.Keys); err != nil {
		return redisconn.Reply{}, 0, err
	}
	began := time.Now()
	got, err := redisconn.Await(ctx, func() (acked, error) {
		ctx := undated(ctx)
		a, err := c.evalWait(ctx, evalsha, call.Script.SHA(), call, replicas, timeout)
		if isNoScript(err) {
			a, err = c.evalWait(ctx, eval, call.Script.Text(), call, replicas, timeout)
		}
		return a, err
	})
	if len(call.Keys) > 0 {
		c.Doubt(began, err, call.Keys[0])
	}
	return got.reply, got.replicas, err
}

// evalWait sends both commands in one pipeline to one server, which means over
// one connection.
func (c *conn) evalWait(
	ctx context.Context, verb any, script *string, call redisconn.Call, replicas int, timeout time.Duration,
) (acked, error) {
	master, err := c.masterFor(ctx, call.Keys)
	if err != nil {
		return acked{}, classify(err)
	}
	pipe := reading(master, timeout).Pipeline()
	cmd := newEval(ctx, verb, script, call.Keys, call.Args)
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

// errNoKey is what says which server of a cluster is meant.
var errNoKey = errors.New("a call without a key has no server of its own in a cluster")

// masterFor returns the client of the one server that has the keys.
func (c *conn) masterFor(ctx context.Context, keys []string) (pipeliner, error) {
	if c.cluster == nil {
		return c.client, nil
	}
	if len(keys) == 0 {
		return nil, redisconn.Mark(redisconn.Refused, errNoKey)
	}
	return c.cluster.MasterForKey(ctx, keys[0])
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
