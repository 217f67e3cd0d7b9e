package redislock

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/bedrock-go/bedrock/internal/redisnode"
	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/redisconn"
)

// publishing is how releases are made known: by PUBLISH, or by SPUBLISH, which
// a cluster keeps to one shard. The two do not reach one another, so the choice
// must be that of the other clients; it is found out once, as Redisson does.
type publishing struct {
	found  atomic.Int32
	asking atomic.Bool // somebody is finding out in the background
}

const (
	publishUnknown int32 = iota
	publishClassic
	publishSharded
)

// sharded reports whether SPUBLISH is to be used.
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

// known reports whether SPUBLISH is to be used, if no server need be asked for that.
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
	masters, err := b.conn.Masters(ctx)
	for i := 0; err == nil && i < len(masters); i++ {
		_, err = masters[i].Do(ctx, "PUBSUB", "SHARDNUMSUB")
	}
	switch {
	case err == nil:
		return publishSharded, nil
	case redisnode.Refuses(err) && !redisconn.UserRefused(err):
		return publishClassic, nil
	default:
		return publishUnknown, err
	}
}

// command returns the command that publishes, or nothing while that is not known: a
// script tries both then. Nobody who releases waits for a master that hangs, which may
// have nothing to do with the lock at hand.
func (p *publishing) command(b *backend) string { return p.verb(b, "PUBLISH", "SPUBLISH") }

// countCommand returns the subcommand of PUBSUB that counts listeners, or nothing.
func (p *publishing) countCommand(b *backend) string { return p.verb(b, "NUMSUB", "SHARDNUMSUB") }

func (p *publishing) verb(b *backend, classic, sharded string) string {
	isSharded, known := p.known(b)
	switch {
	case !known:
		p.findOut(b)
		return ""
	case isSharded:
		return sharded
	default:
		return classic
	}
}

const (
	probeTime  = 5 * time.Second // the longest that masters are asked
	probePause = time.Second     // after that was in vain
)

// findOut asks the masters in the background, unless somebody does so already.
func (p *publishing) findOut(b *backend) {
	if !p.asking.CompareAndSwap(false, true) {
		return
	}
	b.hub.aside(func() {
		defer p.asking.Store(false)
		ctx, cancel := context.WithTimeout(b.background, probeTime)
		defer cancel()
		if _, err := p.sharded(ctx, b); err != nil {
			sleep.For(b.background, probePause)
		}
	})
}
