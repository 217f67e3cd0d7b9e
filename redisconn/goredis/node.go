package goredis

import (
	"context"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/redisconn"
)

// node is one master.
type node struct {
	addr string
	do   func(ctx context.Context, cmd redis.Cmder) error
}

// Addr implements redisconn.Node.
func (n *node) Addr() string { return n.addr }

// Do implements redisconn.Node.
func (n *node) Do(ctx context.Context, args ...string) (redisconn.Reply, error) {
	all := make([]any, len(args))
	for i := range args {
		all[i] = args[i]
	}
	return redisconn.Await(ctx, func() (redisconn.Reply, error) {
		cmd := &command{redis.NewCmd(ctx, all...)}
		err := n.do(ctx, cmd)
		return reply(cmd, err)
	})
}

// Masters implements redisconn.Conn.
func (c *conn) Masters(ctx context.Context) ([]redisconn.Node, error) {
	each := c.eachServer()
	if each == nil {
		return []redisconn.Node{&node{addr: addrOf(c.client), do: c.client.Process}}, nil
	}
	masters, err := redisconn.Await(ctx, func() ([]redisconn.Node, error) { return listServers(ctx, each) })
	if err != nil {
		return nil, classify(err)
	}
	return masters, nil
}

// visitor visits several servers concurrently.
type visitor = func(ctx context.Context, visit func(context.Context, *redis.Client) error) error

// eachServer visits the masters of a cluster, or the servers of a ring; nil where there
// is but one.
func (c *conn) eachServer() visitor {
	if c.cluster != nil {
		return c.cluster.ForEachMaster
	}
	if r, ok := c.client.(ring); ok {
		return r.ForEachShard
	}
	return nil
}

func listServers(ctx context.Context, each visitor) ([]redisconn.Node, error) {
	var mu sync.Mutex
	var servers []redisconn.Node
	err := each(ctx, func(_ context.Context, server *redis.Client) error {
		mu.Lock()
		defer mu.Unlock()
		servers = append(servers, &node{addr: server.Options().Addr, do: server.Process})
		return nil
	})
	return servers, err
}

func addrOf(client redis.UniversalClient) string {
	if single, ok := client.(*redis.Client); ok {
		return single.Options().Addr
	}
	return ""
}

// Owner implements redisconn.Conn.
func (c *conn) Owner(ctx context.Context, key string, again bool) (string, error) {
	if c.cluster == nil {
		return "", nil
	}
	if again {
		c.cluster.ReloadState(ctx)
	}
	m, err := redisconn.Await(ctx, func() (*redis.Client, error) { return c.cluster.MasterForKey(ctx, key) })
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
