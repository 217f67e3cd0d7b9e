package redisbarrier

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bedrock-go/bedrock/internal/redisnode"
	"github.com/bedrock-go/bedrock/redisconn"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/barrier"
)

// Clean removes the marks of transactions that have ended, by the coordinator's
// word, and says of how many. See [barrier.Barrier.Clean]. It scans the keys of
// every server, several servers at once.
func (b *Barrier) Clean(ctx context.Context, coordinator txn.Inspector, opts *barrier.CleanOptions) (int, error) {
	if err := opts.Check(); err != nil {
		return 0, fmt.Errorf("redisbarrier: clean: %w", err)
	}
	c := &cleaner{b: b, coordinator: coordinator, opts: opts.WithDefaults()}
	if err := c.scanAll(ctx); err != nil {
		return int(c.removed.Load()), fmt.Errorf("redisbarrier: clean: %w", err)
	}
	return int(c.removed.Load()), nil
}

// cleaner is one run of Clean.
type cleaner struct {
	b           *Barrier
	coordinator txn.Inspector
	opts        barrier.CleanOptions
	removed     atomic.Int64
}

// scanAll goes through the keys of all servers. The first error counts; the others go
// on.
func (c *cleaner) scanAll(ctx context.Context) error {
	servers, err := c.b.conn.Masters(ctx)
	if err != nil {
		return err
	}
	failed := make(chan error, len(servers))
	var scans sync.WaitGroup
	for _, server := range servers {
		scans.Go(func() {
			if err := c.scan(ctx, server); err != nil {
				failed <- err
			}
		})
	}
	scans.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

// scan goes through the keys of one server.
func (c *cleaner) scan(ctx context.Context, server redisconn.Node) error {
	now, err := clockOf(ctx, server)
	if err != nil {
		return fmt.Errorf("read clock: %w", err)
	}
	marks := redisnode.Scan{Prefix: c.b.opts.Prefix + "{", Batch: c.opts.Batch}
	for key, err := range marks.Keys(ctx, server) {
		if err != nil {
			return err
		}
		if err := c.visit(ctx, server, key, now); err != nil {
			return err
		}
	}
	return nil
}

// clockOf reads a server's clock.
func clockOf(ctx context.Context, server redisconn.Node) (time.Time, error) {
	answer, err := server.Do(ctx, "TIME")
	if err != nil {
		return time.Time{}, err
	}
	if answer.Len() != 2 {
		return time.Time{}, fmt.Errorf("TIME was answered with %d items, not 2", answer.Len())
	}
	seconds, err := strconv.ParseInt(answer.At(0).Str, 10, 64)
	if err != nil {
		return time.Time{}, err
	}
	micros, err := strconv.ParseInt(answer.At(1).Str, 10, 64)
	return time.Unix(seconds, micros*int64(time.Microsecond)), err
}

// visit removes one hash of marks, if it may go.
func (c *cleaner) visit(ctx context.Context, server redisconn.Node, marks string, now time.Time) error {
	transaction, ok := c.b.transaction(marks)
	if !ok {
		return nil
	}
	set, err := server.Do(ctx, "HGET", marks, "at")
	if err == nil && set.Nil {
		return nil // gone
	}
	var micros int64
	if err == nil {
		micros, err = strconv.ParseInt(set.Str, 10, 64)
	}
	if err != nil {
		return fmt.Errorf("age of %q: %w", marks, err)
	}
	at := time.UnixMicro(micros)
	if now.Sub(at) < c.opts.Age {
		return nil
	}
	if may, err := c.opts.MayGo(ctx, c.coordinator, transaction, at, now); err != nil || !may {
		return err
	}
	gone, err := c.b.eval(ctx, c.b.clean, []string{marks}, []string{set.Str})
	c.removed.Add(gone.Int)
	return err
}
