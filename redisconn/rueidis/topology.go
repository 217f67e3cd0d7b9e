package rueidis

import (
	"context"
	"fmt"
	"net"
	"strconv"

	"github.com/redis/rueidis"

	"github.com/bedrock-go/bedrock/redisconn"
)

// node is one master.
type node struct {
	client rueidis.Client
	addr   string
}

// Addr implements redisconn.Node.
func (n *node) Addr() string { return n.addr }

// Do implements redisconn.Node.
func (n *node) Do(ctx context.Context, args ...string) (redisconn.Reply, error) {
	return redisconn.Await(ctx, func() (redisconn.Reply, error) {
		return reply(n.client.Do(ctx, n.client.B().Arbitrary(args...).Build()))
	})
}

// Masters implements redisconn.Conn.
func (c *conn) Masters(ctx context.Context) ([]redisconn.Node, error) {
	if !c.cluster {
		return []redisconn.Node{&node{client: c.client}}, nil
	}
	ranges, err := c.layout(ctx, true)
	if err != nil {
		return nil, err
	}
	var masters []redisconn.Node
	clients, seen := c.client.Nodes(), make(map[string]bool)
	for _, r := range ranges {
		if seen[r.addr] {
			continue
		}
		seen[r.addr] = true
		client := clients[r.addr]
		if client == nil {
			return nil, unknownServer(r.addr)
		}
		masters = append(masters, &node{client, r.addr})
	}
	return masters, nil
}

// unknownServer says that the client has yet to learn of a server that the cluster has.
func unknownServer(addr string) error {
	return redisconn.Mark(redisconn.Unavailable, fmt.Errorf("the client does not know server %s yet", addr))
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
	answer, err := redisconn.Await(ctx, func() (redisconn.Reply, error) {
		return reply(c.client.Do(ctx, c.client.B().ClusterSlots().Build()))
	})
	if err != nil {
		return nil, err
	}
	var ranges []slotRange
	for i := range answer.Len() {
		if r, ok := c.readRange(answer.At(i)); ok {
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
func (c *conn) readRange(item redisconn.Reply) (slotRange, bool) {
	if item.Len() < 3 || item.At(2).Len() < 2 {
		return slotRange{}, false
	}
	master := item.At(2)
	return slotRange{
		first: item.At(0).Int, last: item.At(1).Int,
		addr: c.addressOf(master.At(0).Str, strconv.FormatInt(master.At(1).Int, 10)),
	}, true
}

// addressOf is where the client reaches a server. One that has never met another does not
// know its own host, and some are told not to say it: then it is the server with this port
// that the client knows, by the host under which it has asked.
func (c *conn) addressOf(host, port string) string {
	if host == "" {
		for known := range c.client.Nodes() {
			if _, p, err := net.SplitHostPort(known); err == nil && p == port {
				return known
			}
		}
	}
	return net.JoinHostPort(host, port)
}

// Owner implements redisconn.Conn.
func (c *conn) Owner(ctx context.Context, key string, again bool) (string, error) {
	if !c.cluster {
		return "", nil
	}
	ranges, err := c.layout(ctx, again)
	if err != nil {
		return "", err
	}
	slot := int64(redisconn.Slot(key))
	for _, r := range ranges {
		if r.first <= slot && slot <= r.last {
			return r.addr, nil
		}
	}
	return "", redisconn.Mark(redisconn.Unavailable, fmt.Errorf("no server has slot %d", slot))
}
