package redislock

import (
	"context"
	"fmt"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/redisconn"
)

// latchTTL is for how long, in ms, a repeated release is recognised. The latch
// is one key per client and name, where Redisson has one per release.
const latchTTL = "10000"

// Release implements [driver.Backend].
func (b *backend) Release(ctx context.Context, g driver.Grant) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, notSent(err)
	}
	if err := b.checkGrant(&g); err != nil {
		return 0, describe("release", g.Name, err)
	}
	h := handleOf(&g)
	if h == nil {
		h = b.newHandle(g.Name, g.Owner)
	}
	reply, err := b.evalRelease(ctx, h, b.pubsub.command(b))
	if err != nil {
		return 0, describe("release", g.Name, err)
	}
	if reply.Int < 0 {
		return 0, fmt.Errorf("redislock: release %q: %w", g.Name, driver.ErrLost)
	}
	return max(int(reply.Int)-b.hub.listening(h.keys.channel), 0), nil
}

// evalRelease sends a release. It may be repeated, so that no holder need hear of a
// connection that was broken before.
func (b *backend) evalRelease(ctx context.Context, h *handle, publish string) (redisconn.Reply, error) {
	return redisconn.Repeat(ctx, func() (redisconn.Reply, error) { return b.evalReleaseOnce(ctx, h, publish) })
}

func (b *backend) evalReleaseOnce(ctx context.Context, h *handle, publish string) (redisconn.Reply, error) {
	if b.releasing != nil {
		return b.releasing.eval(ctx, h.release[:], h.last[2:])
	}
	args := h.last // a release may be repeated while the one before is under way
	args[0] = publish
	return b.conn.Eval(ctx, b.scripts.release, h.release[:], args[:])
}
