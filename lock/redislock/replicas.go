package redislock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

const (
	// countLife is how long a number of replicas is relied upon.
	countLife = time.Second
	// lowCountLife is how long one is that may be about to rise: none at all, or
	// fewer than there were. A replica starts in less than 20 ms; this is for those
	// who ask at the same time.
	lowCountLife = 2 * time.Millisecond
	// missedTime is for how long replicas that have gone must acknowledge all the
	// same: after a fail-over the new master has none until they have found it. When
	// they went nobody knows: the count before may be old.
	missedTime = 5 * time.Second
)

// replicaCounts knows how many replicas the masters have.
type replicaCounts struct {
	mu      sync.Mutex
	masters map[string]*replicas // by the master's id
	owners  map[int]string       // of a shard: whose place a new master takes
}

// replicas are those of one master.
type replicas struct {
	turn chan struct{} // one slot: who counts

	// Guarded by replicaCounts.mu.
	counted time.Time // when the master was asked
	count   int       // connected at that time
	needed  int       // as many, or more while some are missed
	missed  time.Time // when it was first found that there are fewer; zero if there are not
	least   int       // the fewest there were since
}

// of returns the replicas of the master that owns a shard. A master that is new
// there is expected to get those of the one before it.
func (c *replicaCounts) of(owner string, shard int) *replicas {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.masters == nil {
		c.masters, c.owners = make(map[string]*replicas), make(map[int]string)
	}
	r := c.masters[owner]
	if r == nil {
		r = &replicas{turn: make(chan struct{}, 1)}
		if before := c.masters[c.owners[shard]]; before != nil {
			r.needed = before.needed
		}
		c.masters[owner] = r
	}
	c.owners[shard] = owner
	return r
}

// known returns how many replicas are needed if the last count still holds.
func (c *replicaCounts) known(r *replicas) (int, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	life := countLife
	if r.count == 0 || r.count < r.needed {
		life = lowCountLife
	}
	return r.needed, !r.counted.IsZero() && time.Since(r.counted) < life
}

// enterCount records a count that was asked for at that time, and returns how many
// replicas are needed.
func (c *replicaCounts) enterCount(r *replicas, asked time.Time, count int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	r.counted, r.count = asked, count
	switch oneMoreGone := r.missed.IsZero() || count < r.least; {
	case count < r.needed && oneMoreGone:
		r.missed, r.least = asked, count
	case count >= r.needed, asked.Sub(r.missed) >= missedTime:
		r.needed, r.missed = count, time.Time{}
	}
	return r.needed
}

// acksNeeded returns how many replicas must acknowledge.
func (b *backend) acksNeeded(ctx context.Context, name string) (int, error) {
	if b.opts.Acks >= 0 {
		return int(b.opts.Acks), nil
	}
	n, err := b.replicasNeeded(ctx, name)
	if err != nil {
		return 0, err
	}
	if b.opts.Acks == AckMajority {
		// Of n replicas and the master, which has the grant itself.
		return (n + 1) / 2, nil
	}
	return n, nil
}

// replicasNeeded returns how many replicas have to do with a name. They are
// counted about once a second, by one goroutine at a time.
func (b *backend) replicasNeeded(ctx context.Context, name string) (int, error) {
	owner, err := b.conn.Owner(ctx, name, false)
	if err != nil {
		return 0, notCounted(err)
	}
	r := b.replicas.of(owner, b.Shard(name))
	if n, ok := b.replicas.known(r); ok {
		return n, nil
	}
	select {
	case r.turn <- struct{}{}:
	case <-ctx.Done():
		return 0, notSent(ctx.Err())
	}
	defer func() { <-r.turn }()
	if n, ok := b.replicas.known(r); ok {
		return n, nil
	}
	return b.countReplicas(ctx, r, name)
}

// countReplicas asks by a script, because that goes to the master of the name and
// to no other: one that is away must not hold up the locks of the others.
func (b *backend) countReplicas(ctx context.Context, r *replicas, name string) (int, error) {
	asked := time.Now()
	reply, err := b.conn.Eval(ctx, b.scripts.replicas, []string{name}, nil)
	if err != nil {
		return 0, notCounted(err)
	}
	return b.replicas.enterCount(r, asked, int(reply.Int)), nil
}

// notCounted says that the lock was not asked for yet when err came up.
func notCounted(err error) error {
	if classOf(err) != nil || errors.Is(err, driver.ErrRefused) || errors.Is(err, driver.ErrUnavailable) {
		return err
	}
	return fmt.Errorf("%w: replicas not counted: %w", driver.ErrUnavailable, err)
}
