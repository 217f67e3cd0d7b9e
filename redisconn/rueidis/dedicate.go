package rueidis

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/rueidis"

	"github.com/bedrock-go/bedrock/redisconn"
)

// dedicateTime bounds the wait for a connection of the pool.
const dedicateTime = time.Second

// dedicated is a connection taken from the pool.
type dedicated struct {
	rueidis.DedicatedClient
	release func()
}

// dedicate takes a connection from the client's pool for blocking commands.
// rueidis itself waits for one for ever.
func dedicate(ctx context.Context, client rueidis.Client) (*dedicated, error) {
	ctx, cancel := context.WithTimeout(ctx, dedicateTime)
	defer cancel()
	taken := make(chan *dedicated)
	go func() {
		d := new(dedicated)
		d.DedicatedClient, d.release = client.Dedicate()
		select {
		case taken <- d:
		case <-ctx.Done():
			d.release()
		}
	}()
	select {
	case d := <-taken:
		return d, nil
	case <-ctx.Done():
		return nil, redisconn.Mark(redisconn.Unavailable, fmt.Errorf(
			"no connection for blocking commands is free, BlockingPoolSize may be too small: %w", ctx.Err()))
	}
}

// spares reports whether the pool has a connection left for the acquisitions that
// wait for replicas. If not, to listen for a release would keep the lock from being
// taken.
func (c *conn) spares(ctx context.Context, client rueidis.Client) error {
	if !c.acked.Load() {
		return nil
	}
	d, err := dedicate(ctx, client)
	if err != nil {
		return err
	}
	d.release()
	return nil
}
