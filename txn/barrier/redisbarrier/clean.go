package redisbarrier

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/barrier"
)

// Clean removes the marks of transactions that have ended, by the coordinator's
// word, and says of how many. See [barrier.Barrier.Clean]. It scans the keys of
// every server, several servers at once.
func (b *Barrier) Clean(ctx context.Context, coordinator txn.Inspector, opts *barrier.CleanOptions) (int, error) {
	c := &cleaner{b: b, coordinator: coordinator, opts: opts.WithDefaults()}
	var err error
	switch rdb := b.rdb.(type) {
	case *redis.ClusterClient:
		err = rdb.ForEachMaster(ctx, c.server)
	case *redis.Ring:
		err = rdb.ForEachShard(ctx, c.server)
	default:
		err = c.scan(ctx, rdb)
	}
	if err != nil {
		err = fmt.Errorf("redisbarrier: clean: %w", err)
	}
	return int(c.removed.Load()), err
}

// cleaner is one run of Clean.
type cleaner struct {
	b           *Barrier
	coordinator txn.Inspector
	opts        barrier.CleanOptions
	removed     atomic.Int64
}

func (c *cleaner) server(ctx context.Context, rdb *redis.Client) error { return c.scan(ctx, rdb) }

// scan goes through the keys of one server.
func (c *cleaner) scan(ctx context.Context, rdb redis.Cmdable) error {
	now, err := rdb.Time(ctx).Result()
	if err != nil {
		return fmt.Errorf("read clock: %w", err)
	}
	escape := strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`)
	it := rdb.Scan(ctx, 0, escape.Replace(c.b.opts.Prefix)+"{*", int64(c.opts.Batch)).Iterator()
	for it.Next(ctx) {
		if err := c.visit(ctx, rdb, it.Val(), now); err != nil {
			return err
		}
	}
	return it.Err()
}

// visit removes one hash of marks, if it may go.
func (c *cleaner) visit(ctx context.Context, rdb redis.Cmdable, marks string, now time.Time) error {
	transaction, ok := c.b.transaction(marks)
	if !ok {
		return nil
	}
	at, err := rdb.HGet(ctx, marks, "at").Result()
	if errors.Is(err, redis.Nil) {
		return nil // gone
	}
	micro, parseErr := strconv.ParseInt(at, 10, 64)
	if err = errors.Join(err, parseErr); err != nil {
		return fmt.Errorf("age of %q: %w", marks, err)
	}
	if now.Sub(time.UnixMicro(micro)) < c.opts.Age {
		return nil
	}
	if may, err := c.opts.MayGo(ctx, c.coordinator, transaction, time.UnixMicro(micro), now); err != nil || !may {
		return err
	}
	n, err := c.b.clean.Run(ctx, rdb, []string{marks}, at).Int64()
	c.removed.Add(n)
	return err
}
