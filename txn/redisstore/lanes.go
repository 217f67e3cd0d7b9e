package redisstore

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// lanes carry writes and what is about one transaction. In a cluster every node has its own,
// so that one that hangs does not hold up the others.
type lanes struct {
	client  redis.UniversalClient
	cluster *redis.ClusterClient // nil when it is none
	keys    *[driver.Shards]keys
	of      [driver.Shards]atomic.Pointer[batcher]

	mu     sync.Mutex
	byNode map[string]*batcher
	closed bool
}

func newLanes(ctx context.Context, client redis.UniversalClient, keys *[driver.Shards]keys) (*lanes, error) {
	l := &lanes{client: client, keys: keys, byNode: make(map[string]*batcher)}
	l.cluster, _ = client.(*redis.ClusterClient)
	return l, l.spread(ctx)
}

// spread finds out which node serves which shard. Where that has changed since,
// go-redis follows: the lane is then the wrong one, and no worse than that.
func (l *lanes) spread(ctx context.Context) error {
	for shard := range l.of {
		node := ""
		if l.cluster != nil {
			master, err := l.cluster.MasterForKey(ctx, l.keys[shard].queue)
			if err != nil {
				return err
			}
			node = master.Options().Addr
		}
		lane := l.to(node)
		if lane == nil {
			return driver.ErrClosed
		}
		l.of[shard].Store(lane)
	}
	return nil
}

// to returns the lane to a node, nil after close.
func (l *lanes) to(node string) *batcher {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	lane := l.byNode[node]
	if lane == nil {
		lane = newBatcher(l.client)
		l.byNode[node] = lane
	}
	return lane
}

// send runs a command about a transaction. After an error, which may be due to a
// node that has gone, the lanes are looked at again.
func (l *lanes) send(ctx context.Context, id string, c *command) error {
	err := l.of[driver.Shard(id)].Load().send(ctx, c)
	if err == nil {
		err = c.Err()
	}
	if err != nil {
		l.look(ctx, err)
	}
	return err
}

// look spreads the lanes anew after an error. That error matters more than any
// of this.
func (l *lanes) look(ctx context.Context, because error) {
	if l.cluster != nil && !errors.Is(because, driver.ErrClosed) {
		_ = l.spread(context.WithoutCancel(ctx))
	}
}

func (l *lanes) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for _, lane := range l.byNode {
		lane.close()
	}
}
