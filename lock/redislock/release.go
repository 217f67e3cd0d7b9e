package redislock

import (
	"context"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/redisconn"
)

// A repeated release is recognised by a latch, which is one key per client and name, where Redisson
// has one per release. It is the lock itself, renamed, if what is left of that lives for about as
// long as a latch should.
const (
	latchTTL      = "10000"          // the life, in ms, of one that is made
	shortestLatch = 20 * time.Second // the leases whose locks become latches
	longestLatch  = time.Minute
)

// latchLife returns the life of a latch in the words of the scripts: nothing for what is left of the lock's.
func (b *backend) latchLife(lease time.Duration) string {
	if b.opts.Profile == Redisson && lease >= shortestLatch && lease <= longestLatch {
		return ""
	}
	return latchTTL
}

// Release implements [driver.Backend].
func (b *backend) Release(ctx context.Context, g driver.Grant) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, notSent(err)
	}
	if err := b.checkGrant(&g); err != nil {
		return 0, describe("release", g.Name, err)
	}
	if g.Mode != driver.Exclusive {
		return b.releaseGrant(ctx, &g)
	}
	h := handleOf(&g)
	if h == nil {
		h = b.newHandle(g.Name, g.Owner)
		h.passed = b.heirs.passedTo(g.Owner)
	}
	b.heirs.endStanding(g.Owner)
	b.inboxOf(g.Owner).leaveLine(g.Owner)
	reply, err := b.evalRelease(ctx, h, b.pubsub.command(b))
	if err != nil {
		return 0, describe("release", g.Name, err)
	}
	b.heirs.forgetPassed(g.Owner)
	if reply.Int < 0 {
		return 0, fmt.Errorf("redislock: release %q: %w", g.Name, driver.ErrLost)
	}
	if reply.Len() > 0 { // it was for strangers
		b.heirs.releasedForStrangers(h.keys.channel, reply)
		reply = reply.At(0)
	}
	return max(int(reply.Int)-b.hub.listening(h.keys.channel), 0), nil
}

// evalRelease sends a release. It may be repeated, so that no holder need hear of a
// connection that was broken before.
func (b *backend) evalRelease(ctx context.Context, h *handle, publish string) (redisconn.Reply, error) {
	return redisconn.Repeat(ctx, func() (redisconn.Reply, error) { return b.evalReleaseOnce(ctx, h, publish) })
}

func (b *backend) evalReleaseOnce(ctx context.Context, h *handle, publish string) (redisconn.Reply, error) {
	switch {
	case b.releasing == nil:
		args := b.releaseArgs(h)
		args[0] = publish
		return b.conn.Eval(ctx, b.scripts.release, h.release[:], args[:])
	case h.passed != nil:
		args := b.releaseArgs(h)
		return b.releasing.eval(ctx, h.release[:], args[1:])
	default:
		return b.releasing.eval(ctx, h.release[:], h.last[1:])
	}
}

// releaseArgs returns the arguments of one release: it may be repeated while the one before is under way.
func (b *backend) releaseArgs(h *handle) [4]string {
	args := h.last
	if h.passed != nil {
		listening := b.hub.listening(h.keys.channel) - b.hub.listeningBeside(h.keys.channel, h.passed.here)
		args[3] = h.passed.describe(listening, b.heirs.strangersRest(h.keys.channel))
	}
	return args
}
