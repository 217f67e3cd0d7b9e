package goredis

import (
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// A router can forget the connections of a pool, all at once and silently. go-redis
// finds that out one by one, and each costs a call its time-out: a few of them, and a
// lease is over before a new connection is made. So after a call that got no answer
// all that lie idle are asked whether they are still there.

// answerTime is how long an idle connection may take to answer.
const answerTime = time.Second

// suspect makes the idle connections to the servers of some keys prove themselves.
// It does not wait for that.
func (c *conn) suspect(keys ...string) {
	if len(keys) > 0 {
		go func() {
			for addr, p := range c.poolsOf(keys) {
				go c.proveIdle(addr, p)
			}
		}()
	}
}

// firstOf returns one key of a call, which tells its server; none if it has none.
func firstOf(keys []string) []string { return keys[:min(len(keys), 1)] }

// pool is a client of one server.
type pool interface {
	PoolStats() *redis.PoolStats
	WithTimeout(timeout time.Duration) *redis.Client
}

// poolsOf returns the pools that serve some keys, by their server's address.
func (c *conn) poolsOf(keys []string) map[string]pool {
	pools := make(map[string]pool)
	if c.cluster == nil {
		if p, ok := c.client.(pool); ok {
			pools[""] = p
		}
		return pools
	}
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	for _, key := range keys {
		if m, err := c.cluster.MasterForKey(ctx, key); err == nil {
			pools[m.Options().Addr] = m
		}
	}
	return pools
}

// proveIdle asks the idle connections of a pool, unless they are being asked already.
func (c *conn) proveIdle(addr string, p pool) {
	if _, asking := c.asking.LoadOrStore(addr, true); asking {
		return
	}
	defer c.asking.Delete(addr)
	askIdle(p)
}

// askIdle sends a PING over every idle connection at once. go-redis closes those that
// do not answer; meanwhile none of them is given to anybody else.
func askIdle(p pool) {
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	stats, impatient := p.PoolStats(), p.WithTimeout(answerTime)
	var asked sync.WaitGroup
	for range stats.IdleConns {
		asked.Go(func() { _ = impatient.Process(ctx, ping(ctx)) })
	}
	if stats.PipelineStats != nil {
		for range stats.PipelineStats.IdleConns {
			asked.Go(func() {
				pipe := impatient.Pipeline()
				_ = pipe.Process(ctx, ping(ctx))
				_, _ = pipe.Exec(ctx)
			})
		}
	}
	asked.Wait()
}

func ping(ctx context.Context) *command { return &command{redis.NewCmd(ctx, "ping")} }
