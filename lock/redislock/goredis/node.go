package goredis

import (
	"context"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/lock/redislock"
)

// node is one master.
type node struct {
	addr string
	do   func(ctx context.Context, cmd redis.Cmder) error
}

// Addr implements redislock.Node.
func (n *node) Addr() string { return n.addr }

// Do implements redislock.Node.
func (n *node) Do(ctx context.Context, args ...string) (redislock.Reply, error) {
	all := make([]any, len(args))
	for i := range args {
		all[i] = args[i]
	}
	return redislock.Await(ctx, func() (redislock.Reply, error) {
		cmd := &command{redis.NewCmd(ctx, all...)}
		err := n.do(ctx, cmd)
		return reply(cmd, err)
	})
}

// EachMaster implements redislock.Conn.
func (c *conn) EachMaster(ctx context.Context, fn func(redislock.Node) error) error {
	if c.cluster == nil {
		return fn(&node{addr: addrOf(c.client), do: c.client.Process})
	}
	masters, err := redislock.Await(ctx, func() ([]*redis.Client, error) { return c.listMasters(ctx) })
	if err != nil {
		return classify(err)
	}
	for _, m := range masters {
		if err := fn(&node{addr: m.Options().Addr, do: m.Process}); err != nil {
			return err
		}
	}
	return nil
}

// listMasters collects the masters; go-redis visits them concurrently.
func (c *conn) listMasters(ctx context.Context) ([]*redis.Client, error) {
	var mu sync.Mutex
	var masters []*redis.Client
	err := c.cluster.ForEachMaster(ctx, func(_ context.Context, m *redis.Client) error {
		mu.Lock()
		defer mu.Unlock()
		masters = append(masters, m)
		return nil
	})
	return masters, err
}

func addrOf(client redis.UniversalClient) string {
	if single, ok := client.(*redis.Client); ok {
		return single.Options().Addr
	}
	return ""
}

// Owner implements redislock.Conn.
func (c *conn) Owner(ctx context.Context, key string, again bool) (string, error) {
	if c.cluster == nil {
		return "", nil
	}
	if again {
		c.cluster.ReloadState(ctx)
	}
	m, err := redislock.Await(ctx, func() (*redis.Client, error) { return c.cluster.MasterForKey(ctx, key) })
	if err != nil {
		return "", classify(err)
	}
	c.remember(m)
	return m.Options().Addr, nil
}

// remember keeps a master's client for Listen.
func (c *conn) remember(m *redis.Client) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.masters == nil {
		c.masters = make(map[string]*redis.Client)
	}
	c.masters[m.Options().Addr] = m
}

// serverOf returns the client of an address Owner has told, or the whole
// client.
func (c *conn) serverOf(addr string) subscriber {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m := c.masters[addr]; m != nil {
		return m
	}
	return c.client
}
