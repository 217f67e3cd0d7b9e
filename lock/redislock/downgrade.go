package redislock

import (
	"context"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/redisconn"
)

// Downgrade implements [driver.Downgrader].
func (b *backend) Downgrade(ctx context.Context, g driver.Grant) error {
	if err := b.downgrade(ctx, &g); err != nil {
		return describe("downgrade", g.Name, err)
	}
	return nil
}

func (b *backend) downgrade(ctx context.Context, g *driver.Grant) error {
	if err := driver.Refused(driver.CheckDowngrade(g)); err != nil {
		return err
	}
	if err := b.checkGrant(g); err != nil { // a profile without writers refuses it
		return err
	}
	if err := ctx.Err(); err != nil {
		return notSent(err)
	}
	return b.evalOwned(ctx, redisconn.Call{
		Script: b.scripts.rw.downgrade,
		Keys: []string{
			g.Name, b.layout.channelOf(g.Name, driver.ReadWrite), beside(holdersKey, g.Name),
			beside(readersKey, g.Name), beside(turnKey, g.Name),
		},
		Args: []string{b.pubsub.command(b), g.Owner, readersTurn},
	})
}
