package redislock

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// publishing is how releases are made known: by PUBLISH, or by SPUBLISH, which
// a cluster keeps to one shard. The two do not reach one another, so the choice
// must be that of the other clients; it is found out once, as Redisson does.
type publishing struct {
	found atomic.Int32
}

const (
	publishUnknown int32 = iota
	publishClassic
	publishSharded
)

// sharded tells whether SPUBLISH is to be used.
func (p *publishing) sharded(ctx context.Context, b *backend) (bool, error) {
	switch {
	case !b.conn.Cluster() || b.opts.PubSub == PubSubClassic:
		return false, nil
	case b.opts.PubSub == PubSubSharded:
		return true, nil
	}
	if known := p.found.Load(); known != publishUnknown {
		return known == publishSharded, nil
	}
	found, err := p.probe(ctx, b)
	if err != nil {
		return false, err
	}
	p.found.Store(found)
	return found == publishSharded, nil
}

// probe asks every master whether it knows sharded channels.
func (p *publishing) probe(ctx context.Context, b *backend) (int32, error) {
	err := b.conn.EachMaster(ctx, func(n Node) error {
		_, err := n.Do(ctx, "PUBSUB", "SHARDNUMSUB")
		return err
	})
	if err == nil {
		return publishSharded, nil
	}
	reply, ok := errors.AsType[*ReplyError](err)
	if ok && !errors.Is(reply.class(), driver.ErrUnavailable) {
		return publishClassic, nil
	}
	return publishUnknown, err
}

// command returns the command that publishes.
func (p *publishing) command(ctx context.Context, b *backend) (string, error) {
	sharded, err := p.sharded(ctx, b)
	if sharded {
		return "SPUBLISH", err
	}
	return "PUBLISH", err
}

// countCommand returns the subcommand of PUBSUB that counts listeners.
func (p *publishing) countCommand(ctx context.Context, b *backend) (string, error) {
	sharded, err := p.sharded(ctx, b)
	if sharded {
		return "SHARDNUMSUB", err
	}
	return "NUMSUB", err
}
