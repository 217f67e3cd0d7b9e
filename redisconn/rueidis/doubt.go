package rueidis

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/rueidis"

	"github.com/bedrock-go/bedrock/redisconn"
	"github.com/bedrock-go/bedrock/redisconn/internal/silence"
)

// rueidis sends everything over one connection, or four. When one dies silently it takes
// ConnWriteTimeout, 10 s if nobody says otherwise, to find out, and a lease may be over
// before. So after a call that got no answer, calls go over connections of the pool for
// blocking commands for a while, of which each has answered just now.

const (
	// doubtTime is for how long the shared connection is not relied upon: rueidis has
	// made another by then, or the next call without an answer begins it anew.
	doubtTime = 15 * time.Second
	// proofTime is how long one that answers is looked for, and hedgeTime how long a
	// connection is the only one that is asked. No more than candidates are.
	proofTime  = 2 * time.Second
	hedgeTime  = 100 * time.Millisecond
	candidates = 20
)

// learn doubts the shared connection after a call that got no answer. In a cluster
// there is one for each server, and no telling which of them it was.
func (c *conn) learn(began time.Time, err error) {
	if !c.cluster && silence.Met(began, err) {
		c.doubtUntil.Store(int64(time.Since(c.wrapped) + doubtTime))
	}
}

// Doubt implements redisconn.Doubter.
func (c *conn) Doubt(began time.Time, err error, _ string) { c.learn(began, err) }

func (c *conn) doubts() bool { return int64(time.Since(c.wrapped)) < c.doubtUntil.Load() }

// trusted returns what a call goes over, and what ends its use.
func (c *conn) trusted(ctx context.Context) (line rueidis.CoreClient, done func()) {
	if c.doubts() {
		if d, err := c.proven(ctx); err == nil {
			return d, d.release
		}
	}
	return c.client, func() {}
}

// proven takes a connection of the pool that is alive. Those that lie idle there may
// have died, too: while one is silent the next is asked, and the first to answer is it.
// A caller may have all the time in the world, and there may be none.
func (c *conn) proven(ctx context.Context) (*dedicated, error) {
	looking, found := context.WithTimeout(ctx, proofTime)
	defer found()
	alive, failed := make(chan *dedicated), make(chan error, candidates)
	next := time.NewTimer(0)
	defer next.Stop()
	for asked := 0; ; {
		select {
		case <-next.C:
			if asked++; asked <= candidates {
				go c.prove(looking, alive, failed)
				next.Reset(hedgeTime)
			}
		case d := <-alive:
			return d, nil
		case err := <-failed:
			return nil, err
		case <-looking.Done():
			return nil, redisconn.Mark(redisconn.Unavailable, fmt.Errorf("no connection answers: %w", looking.Err()))
		}
	}
}

// prove takes a connection, and hands it over if it answers while somebody wants one.
// One that breaks instead of being silent tells enough of the server.
func (c *conn) prove(ctx context.Context, alive chan<- *dedicated, failed chan<- error) {
	d, err := dedicate(ctx, c.client)
	if err != nil {
		failed <- err
		return
	}
	if err := d.ping(ctx); err != nil {
		d.discard()
		failed <- redisconn.Mark(redisconn.Unavailable, err)
		return
	}
	select {
	case alive <- d:
	case <-ctx.Done():
		d.release()
	}
}

// discard takes a connection that does not answer out of the pool. rueidis needs a second
// to close one, and whoever looks for another has no such time.
func (d *dedicated) discard() {
	d.Close()
	d.release()
}

// ping returns nil if there was an answer; a refusal is one, too.
func (d *dedicated) ping(ctx context.Context) error {
	err := d.Do(ctx, d.B().Ping().Build()).Error()
	if _, answered := rueidis.IsRedisErr(err); answered {
		return nil
	}
	return err
}
