package redislock

import (
	"context"
	"errors"
	"fmt"

	"github.com/bedrock-go/bedrock/internal/redisnode"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/redisconn"
)

// keyOfFirstSlot lies in slot 0.
const keyOfFirstSlot = "06S"

// Identity implements [driver.Identifier]. It is the run id of the server, which has another one after each start; in
// a cluster that of the master which has the first slot.
func (b *backend) Identity(ctx context.Context) (string, error) {
	id, err := b.runID(ctx)
	if err != nil {
		return "", describe("ask for", "run_id", err)
	}
	return "redis " + id, nil
}

func (b *backend) runID(ctx context.Context) (string, error) {
	node, err := b.firstMaster(ctx)
	if err != nil {
		return "", err
	}
	s, err := redisnode.ReadSettings(ctx, node, []string{"server"}, nil)
	if err != nil {
		return "", err
	}
	id := s.Info["run_id"]
	if id == "" {
		return "", fmt.Errorf("%w: INFO has no run_id", driver.ErrUnsupported)
	}
	return id, nil
}

// firstMaster returns the only master, or the one that has the first slot.
func (b *backend) firstMaster(ctx context.Context) (redisconn.Node, error) {
	masters, err := b.conn.Masters(ctx)
	if err != nil {
		return nil, err
	}
	if !b.conn.Cluster() && len(masters) == 1 {
		return masters[0], nil
	}
	owner, err := b.conn.Owner(ctx, keyOfFirstSlot, false)
	if err != nil {
		return nil, err
	}
	for _, master := range masters {
		if master.Addr() == owner {
			return master, nil
		}
	}
	return nil, redisconn.Mark(redisconn.Unavailable, errors.New("no master is known to have slot 0"))
}
