package redislock

import (
	"context"
	"fmt"

	"github.com/bedrock-go/bedrock/lock/driver"
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

// releaseTries is how often a release is sent that meets a broken connection.
const releaseTries = 3

// evalRelease sends a release. A connection that was broken before is found out
// by using it; a release may be repeated, so that no holder need hear of that.
func (b *backend) evalRelease(ctx context.Context, h *handle, publish string) (reply Reply, err error) {
	for range releaseTries {
		reply, err = b.evalReleaseOnce(ctx, h, publish)
		if err == nil || ctx.Err() != nil || !isBroken(err) {
			break
		}
	}
	return reply, err
}

func (b *backend) evalReleaseOnce(ctx context.Context, h *handle, publish string) (Reply, error) {
	if b.releasing != nil {
		return b.releasing.eval(ctx, h.release[:], h.last[2:])
	}
	args := h.last // a release may be repeated while the one before is under way
	args[0] = publish
	return b.conn.Eval(ctx, b.scripts.release, h.release[:], args[:])
}
