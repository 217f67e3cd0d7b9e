package rueidis

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/redis/rueidis"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// rueidis sends everything over one connection. When that dies silently it takes
// ConnWriteTimeout, 10 s if nobody says otherwise, to find out, and a lease may be over
// before. So after a call that got no answer, calls go over connections of the pool for
// blocking commands for a while, of which each has answered just now.

const (
	// silence is how long a call must have waited in vain to tell of its connection.
	silence = 250 * time.Millisecond
	// doubtTime is for how long the shared connection is not relied upon: rueidis has
	// made another by then, or the next call without an answer begins it anew.
	doubtTime = 15 * time.Second
	// proofTime is how long a connection may take to answer.
	proofTime = 500 * time.Millisecond
)

// unanswered tells whether a call that has begun then and ended so got no answer.
func unanswered(began time.Time, err error) bool {
	if err == nil || time.Since(began) < silence {
		return false
	}
	if _, left := errors.AsType[*driver.UnderwayError](err); left {
		return true
	}
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// learn doubts the shared connection after a call that got no answer. In a cluster
// there is one for each server, and no telling which of them it was.
func (c *conn) learn(began time.Time, err error) {
	if !c.cluster && unanswered(began, err) {
		c.doubtUntil.Store(int64(time.Since(c.wrapped) + doubtTime))
	}
}

func (c *conn) doubts() bool { return int64(time.Since(c.wrapped)) < c.doubtUntil.Load() }

// line returns what a call goes over, and what ends its use.
func (c *conn) line(ctx context.Context) (line rueidis.CoreClient, done func()) {
	if c.doubts() {
		if d, err := c.proven(ctx); err == nil {
			return d, d.release
		}
	}
	return c.client, func() {}
}

// proven takes a connection of the pool that is alive. Those that lie idle there may
// have died, too.
func (c *conn) proven(ctx context.Context) (*dedicated, error) {
	for {
		d, err := dedicate(ctx, c.client)
		if err != nil || d.answers(ctx) {
			return d, err
		}
		d.Close()
		d.release()
	}
}

func (d *dedicated) answers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, proofTime)
	defer cancel()
	return d.Do(ctx, d.B().Ping().Build()).Error() == nil
}
