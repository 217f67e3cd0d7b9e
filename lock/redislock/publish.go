package redislock

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

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
	if sharded, known := p.known(b); known {
		return sharded, nil
	}
	found, err := p.probe(ctx, b)
	if err != nil {
		return false, err
	}
	p.found.Store(found)
	return found == publishSharded, nil
}

// known tells whether SPUBLISH is to be used, if no server need be asked for that.
func (p *publishing) known(b *backend) (sharded, known bool) {
	switch {
	case !b.conn.Cluster() || b.opts.PubSub == PubSubClassic:
		return false, true
	case b.opts.PubSub == PubSubSharded:
		return true, true
	}
	found := p.found.Load()
	return found == publishSharded, found != publishUnknown
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

// probeTime bounds what a renewal waits to learn how a life cut short is made known.
const probeTime = 500 * time.Millisecond

// commandSoon returns the command that publishes, or nothing if that is not found out
// soon: a master that hangs may have nothing to do with the locks at hand.
func (p *publishing) commandSoon(ctx context.Context, b *backend) string {
	if _, known := p.known(b); !known {
		limit := probeTime
		if end, ok := ctx.Deadline(); ok {
			limit = min(limit, time.Until(end)/2)
		}
		bounded, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		ctx = bounded
	}
	publish, err := p.command(ctx, b)
	if err != nil {
		return ""
	}
	return publish
}

// countCommand returns the subcommand of PUBSUB that counts listeners.
func (p *publishing) countCommand(ctx context.Context, b *backend) (string, error) {
	sharded, err := p.sharded(ctx, b)
	if sharded {
		return "SHARDNUMSUB", err
	}
	return "NUMSUB", err
}
