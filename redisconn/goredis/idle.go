package goredis

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/redisconn"
	"github.com/bedrock-go/bedrock/redisconn/internal/silence"
)

// A router can forget the connections of a pool, all at once and silently. go-redis
// finds that out one by one, and each costs a call its time-out: a few of them, and a
// lease is over before a new connection is made. So after a call that got no answer
// all that lie idle are asked whether they are still there, and the next call goes out
// when they have been taken for that: it would be given one of them otherwise.

const (
	// answerTime is how long an idle connection may take to answer.
	answerTime = time.Second
	// takingTime is how long the next call waits at most for the idle connections to be taken,
	// which is done at once; but a question that finds none left makes a new one first.
	takingTime = 100 * time.Millisecond
)

// doubts are the slots of keys whose server's idle connections are about to be asked.
type doubts struct {
	count atomic.Int32 // so that a call looks no further while there are none
	until sync.Map     // by slot: a channel that is closed when the connections are taken
}

// slotOf is what tells the servers of two keys apart, without asking anybody.
func (c *conn) slotOf(key string) int {
	if c.cluster == nil {
		return 0
	}
	return redisconn.Slot(key)
}

// Doubt implements redisconn.Doubter.
func (c *conn) Doubt(began time.Time, err error, key string) {
	if silence.Met(began, err) {
		c.suspect(key)
	}
}

// suspect makes the idle connections to the servers of some keys prove themselves.
// It does not wait for that.
func (c *conn) suspect(keys ...string) {
	if len(keys) == 0 {
		return
	}
	var doubted []string
	taken := make(chan struct{})
	for _, key := range keys {
		if _, already := c.doubts.until.LoadOrStore(c.slotOf(key), taken); !already {
			c.doubts.count.Add(1)
			doubted = append(doubted, key)
		}
	}
	if len(doubted) > 0 {
		go c.prove(doubted, taken)
	}
}

// prove has the idle connections to the servers of some keys asked, and ends the doubt of
// these keys as soon as nobody else can be given one of them, or that takes too long.
func (c *conn) prove(keys []string, taken chan struct{}) {
	settle := sync.OnceFunc(func() {
		for _, key := range keys {
			c.doubts.until.Delete(c.slotOf(key))
			c.doubts.count.Add(-1)
		}
		close(taken)
	})
	defer settle()
	late := time.AfterFunc(takingTime, settle)
	defer late.Stop()
	var taking sync.WaitGroup
	for addr, p := range c.poolsOf(keys) {
		if _, asking := c.asking.LoadOrStore(addr, true); asking {
			continue
		}
		taking.Add(1)
		go func() {
			defer c.asking.Delete(addr)
			askIdle(p, taking.Done)
		}()
	}
	taking.Wait()
}

// undoubted waits while the idle connections to the servers of some keys are about to be asked.
// When ctx ends before, nothing has been sent.
func (c *conn) undoubted(ctx context.Context, keys []string) error {
	if c.doubts.count.Load() == 0 || len(keys) == 0 {
		return nil
	}
	taken, doubted := c.doubts.until.Load(c.slotOf(keys[0]))
	if !doubted {
		return nil
	}
	select {
	case <-taken.(chan struct{}):
		return nil
	case <-ctx.Done():
		return redisconn.Mark(redisconn.Unavailable, ctx.Err())
	}
}

// allUndoubted is undoubted for the keys of several calls.
func (c *conn) allUndoubted(ctx context.Context, calls []redisconn.Call) error {
	for i := range calls {
		if err := c.undoubted(ctx, calls[i].Keys); err != nil {
			return err
		}
	}
	return nil
}

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

// askIdle sends a PING over every idle connection at once. go-redis closes those that
// do not answer; from when taken is called, none of them is given to anybody else.
func askIdle(p pool, taken func()) {
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	stats, impatient := p.PoolStats(), p.WithTimeout(answerTime)
	var asked, taking sync.WaitGroup
	ask := func(send func(ping *ping)) {
		taking.Add(1)
		asked.Go(func() {
			ping := newPing(ctx, taking.Done)
			defer ping.sent()
			send(ping)
		})
	}
	for range stats.IdleConns {
		ask(func(ping *ping) { _ = impatient.Process(ctx, ping) })
	}
	if stats.PipelineStats != nil {
		for range stats.PipelineStats.IdleConns {
			ask(func(ping *ping) {
				pipe := impatient.Pipeline()
				_ = pipe.Process(ctx, ping)
				_, _ = pipe.Exec(ctx)
			})
		}
	}
	taking.Wait()
	taken()
	asked.Wait()
}

// ping is a PING that tells when it is sent: then it has its connection.
type ping struct {
	command

	sent func()
}

func newPing(ctx context.Context, sent func()) *ping {
	return &ping{command{redis.NewCmd(ctx, "ping")}, sync.OnceFunc(sent)}
}

// Args implements redis.Cmder. go-redis asks for them when it has a connection to write them to.
func (p *ping) Args() []any {
	p.sent()
	return p.command.Args()
}
