package rueidis

import (
	"context"
	"fmt"
	"net"
	"strconv"

	"github.com/redis/rueidis"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/redislock"
)

// node is one master.
type node struct {
	client rueidis.Client
	addr   string
}

// Addr implements redislock.Node.
func (n *node) Addr() string { return n.addr }

// Do implements redislock.Node.
func (n *node) Do(ctx context.Context, args ...string) (redislock.Reply, error) {
	return redislock.Await(ctx, func() (redislock.Reply, error) {
		return reply(n.client.Do(ctx, n.client.B().Arbitrary(args...).Build()))
	})
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
		if seen[r.addr] {
			continue
		}
		seen[r.addr] = true
		client := nodes[r.addr]
		if client == nil {
			return unknownServer(r.addr)
		}
		if err := fn(&node{client, r.addr}); err != nil {
			return err
		}
	}
	return nil
}

// unknownServer says that the client has yet to learn of a server that the cluster has.
func unknownServer(addr string) error {
	return fmt.Errorf("%w: the client does not know server %s yet", driver.ErrUnavailable, addr)
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
	answer, err := redislock.Await(ctx, func() (redislock.Reply, error) {
		return reply(c.client.Do(ctx, c.client.B().ClusterSlots().Build()))
	})
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
		addr: net.JoinHostPort(master[0].Str, strconv.FormatInt(master[1].Int, 10)),
	}, true
}

// Owner implements redislock.Conn.
func (c *conn) Owner(ctx context.Context, key string, again bool) (string, error) {
	if !c.cluster {
		return "", nil
	}
	ranges, err := c.layout(ctx, again)
	if err != nil {
		return "", err
	}
	slot := int64(redislock.Slot(key))
	for _, r := range ranges {
		if r.first <= slot && slot <= r.last {
			return r.addr, nil
		}
	}
	return "", fmt.Errorf("%w: no server has slot %d", driver.ErrUnavailable, slot)
}
