package redisstore

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bedrock-go/bedrock/redisconn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// lanes carry writes, and reads of single transactions. In a cluster every node has a lane
// of its own, so that a node that hangs does not hold up the others.
type lanes struct {
	conn redisconn.Conn
	keys *[driver.Shards]keys
	of   [driver.Shards]atomic.Pointer[batcher]

	mu     sync.Mutex
	byNode map[string]*batcher
	closed bool

	respreading atomic.Bool     // somebody looks for the nodes in the background
	background  context.Context //nolint:containedctx // ends that
	stop        context.CancelFunc
	work        sync.WaitGroup
}

func newLanes(ctx context.Context, conn redisconn.Conn, keys *[driver.Shards]keys) (*lanes, error) {
	l := &lanes{conn: conn, keys: keys, byNode: make(map[string]*batcher)}
	l.background, l.stop = context.WithCancel(context.WithoutCancel(ctx))
	return l, l.spread(ctx, false)
}

// spread finds out which node serves which shard, and asks anew if what was known has
// proved wrong. If it has changed since, the client follows: the call has the wrong lane
// then, and no more comes of that.
func (l *lanes) spread(ctx context.Context, again bool) error {
	for shard := range l.of {
		node, err := l.conn.Owner(ctx, l.keys[shard].queue, again && shard == 0)
		if err != nil {
			return err
		}
		lane := l.laneTo(node)
		if lane == nil {
			return driver.ErrClosed
		}
		l.of[shard].Store(lane)
	}
	return nil
}

// laneTo returns the lane to a node, nil after close.
func (l *lanes) laneTo(node string) *batcher {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	lane := l.byNode[node]
	if lane == nil {
		lane = newBatcher(l.conn)
		l.byNode[node] = lane
	}
	return lane
}

// run makes a call about a transaction. After an error, which may be due to a
// node that has gone, the lanes are looked at again.
func (l *lanes) run(ctx context.Context, id string, call redisconn.Call) redisconn.Result {
	result := l.of[driver.Shard(id)].Load().runOne(ctx, call)
	if result.Err != nil {
		l.respread(result.Err)
	}
	return result
}

// respreadTime bounds how long the nodes of a cluster are looked for.
const respreadTime = 5 * time.Second

// respread spreads the lanes anew after an error, in the background: nobody waits for a
// node that may hang.
func (l *lanes) respread(because error) {
	if !l.conn.Cluster() || errors.Is(because, driver.ErrClosed) || !l.respreading.CompareAndSwap(false, true) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	l.work.Go(func() {
		defer l.respreading.Store(false)
		ctx, cancel := context.WithTimeout(l.background, respreadTime)
		defer cancel()
		_ = l.spread(ctx, true) // the error that led here matters more
	})
}

func (l *lanes) close() {
	l.stop()
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.work.Wait()
	for _, lane := range l.byNode {
		lane.close()
	}
}
