// Package rueidis lets redislock use a rueidis client: alone, with Sentinel, or
// a cluster's.
package rueidis

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/redis/rueidis"

	"github.com/bedrock-go/bedrock/lock/redislock"
)

// Wrap makes a rueidis client usable by redislock. The client stays the
// caller's: it is never closed here.
func Wrap(client rueidis.Client) redislock.Conn {
	return &conn{client: client, cluster: client.Mode() == rueidis.ClientModeCluster}
}

// conn implements redislock.Conn.
type conn struct {
	client  rueidis.Client
	cluster bool

	mu     sync.Mutex
	ranges []slotRange // which master has which slots, as Owner has found it
}

var _ redislock.Conn = (*conn)(nil)

// Cluster implements redislock.Conn.
func (c *conn) Cluster() bool { return c.cluster }

// Eval implements redislock.Conn.
func (c *conn) Eval(ctx context.Context, s *redislock.Script, keys, args []string) (redislock.Reply, error) {
	result := c.client.Do(ctx, evalsha(c.client, s, keys, args))
	if isNoScript(result.Error()) {
		result = c.client.Do(ctx, eval(c.client, s, keys, args))
	}
	return reply(result)
}

// EvalMany implements redislock.Conn.
func (c *conn) EvalMany(ctx context.Context, s *redislock.Script, calls []redislock.Call) []redislock.Result {
	cmds := make(rueidis.Commands, len(calls))
	for i, call := range calls {
		cmds[i] = evalsha(c.client, s, call.Keys, call.Args)
	}
	results := make([]redislock.Result, len(calls))
	for i, result := range c.client.DoMulti(ctx, cmds...) {
		if isNoScript(result.Error()) {
			result = c.client.Do(ctx, eval(c.client, s, calls[i].Keys, calls[i].Args))
		}
		results[i].Reply, results[i].Err = reply(result)
	}
	return results
}

// EvalWait implements redislock.Conn.
func (c *conn) EvalWait(
	ctx context.Context, s *redislock.Script, call redislock.Call, replicas int, timeout time.Duration,
) (redislock.Reply, int, error) {
	pinned, release := c.client.Dedicate()
	defer release()
	build := func(cmd rueidis.Completed) []rueidis.RedisResult {
		wait := pinned.B().Wait().Numreplicas(int64(replicas)).Timeout(timeout.Milliseconds()).Build()
		return pinned.DoMulti(ctx, cmd, wait)
	}
	results := build(evalsha(pinned, s, call.Keys, call.Args))
	if isNoScript(results[0].Error()) {
		results = build(eval(pinned, s, call.Keys, call.Args))
	}
	answer, err := reply(results[0])
	if err != nil {
		return redislock.Reply{}, 0, err
	}
	n, err := reply(results[1])
	return answer, int(n.Int), err
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

// node is one master.
type node struct {
	client rueidis.Client
	addr   string
}

// Addr implements redislock.Node.
func (n *node) Addr() string { return n.addr }

// Do implements redislock.Node.
func (n *node) Do(ctx context.Context, args ...string) (redislock.Reply, error) {
	return reply(n.client.Do(ctx, n.client.B().Arbitrary(args...).Build()))
}

// EachMaster implements redislock.Conn.
func (c *conn) EachMaster(ctx context.Context, fn func(redislock.Node) error) error {
	if !c.cluster {
		return fn(&node{client: c.client})
	}
	ranges, err := c.layout(ctx, true)
	if err != nil {
		return err
	}
	nodes := c.client.Nodes()
	seen := make(map[string]bool)
	for _, r := range ranges {
		client := nodes[r.addr]
		if client == nil || seen[r.addr] {
			continue
		}
		seen[r.addr] = true
		if err := fn(&node{client, r.addr}); err != nil {
			return err
		}
	}
	return nil
}

// slotRange is a run of slots that one master has.
type slotRange struct {
	first, last int64
	addr        string
}

// layout returns which master has which slots, afresh if again is set.
func (c *conn) layout(ctx context.Context, again bool) ([]slotRange, error) {
	c.mu.Lock()
	known := c.ranges
	c.mu.Unlock()
	if known != nil && !again {
		return known, nil
	}
	answer, err := reply(c.client.Do(ctx, c.client.B().ClusterSlots().Build()))
	if err != nil {
		return nil, err
	}
	var ranges []slotRange
	for _, item := range answer.Items {
		if r, ok := readRange(item); ok {
			ranges = append(ranges, r)
		}
	}
	c.mu.Lock()
	c.ranges = ranges
	c.mu.Unlock()
	return ranges, nil
}

// readRange reads one entry of CLUSTER SLOTS: first slot, last slot, the master
// as address and port, and its replicas.
func readRange(item redislock.Reply) (slotRange, bool) {
	if len(item.Items) < 3 || len(item.Items[2].Items) < 2 {
		return slotRange{}, false
	}
	master := item.Items[2].Items
	return slotRange{
		first: item.Items[0].Int, last: item.Items[1].Int,
		addr: hostPort(master[0].Str, strconv.FormatInt(master[1].Int, 10)),
	}, true
}
