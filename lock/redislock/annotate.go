package redislock

import (
	"context"
	"fmt"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/redisconn"
)

// Annotate implements [driver.Annotator]. It may be repeated: what is stored is what was said last.
func (b *backend) Annotate(ctx context.Context, g driver.Grant, meta string) error {
	if err := b.annotate(ctx, &g, meta); err != nil {
		return describe("annotate", g.Name, err)
	}
	return nil
}

func (b *backend) annotate(ctx context.Context, g *driver.Grant, meta string) error {
	if b.scripts.annotate == nil {
		return fmt.Errorf("%w: metadata beside a lock", driver.ErrUnsupported)
	}
	if err := b.checkGrant(g); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return notSent(err)
	}
	return b.evalOwned(ctx, b.annotating(g, meta))
}

// evalOwned makes a call that may be repeated, and that answers 1 if the owner has the lock.
func (b *backend) evalOwned(ctx context.Context, call redisconn.Call) error {
	reply, err := redisconn.Repeat(ctx, func() (redisconn.Reply, error) {
		return b.conn.Eval(ctx, call.Script, call.Keys, call.Args)
	})
	if err == nil && reply.Int != 1 {
		err = driver.ErrLost
	}
	return err
}

// annotating returns what it needs to replace the metadata of a grant.
func (b *backend) annotating(g *driver.Grant, meta string) redisconn.Call {
	if g.Mode != driver.Exclusive {
		return b.crowdOf(g).annotating(b, meta)
	}
	stored := marked(&driver.Request{Owner: g.Owner, Meta: meta})
	return redisconn.Call{Script: b.scripts.annotate, Keys: []string{g.Name}, Args: []string{g.Owner, stored}}
}
