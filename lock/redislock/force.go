package redislock

import (
	"context"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// ForceRelease implements [driver.Forcer].
func (b *backend) ForceRelease(ctx context.Context, name string) (bool, error) {
	if err := checkName(name, b.conn.Cluster()); err != nil {
		return false, describe("force release", name, err)
	}
	k := b.layout.of(name, "")
	keys, args := []string{k.name, k.token, k.channel}, []string{b.pubsub.command(b), b.tokenTTL}
	reply, err := b.conn.Eval(ctx, b.scripts.force, keys, args)
	if err != nil {
		return false, describe("force release", name, err)
	}
	if reply.Int < 0 {
		return false, describe("force release", name, &driver.KindError{Found: driver.Latch, Wanted: driver.Mutex})
	}
	return reply.Int == 1, nil
}
