package keeper

import (
	"context"

	"github.com/bedrock-go/bedrock/lock/sqllock/internal/ledger"
)

// SetLatch implements [driver.Latches].
func (b *Backend) SetLatch(ctx context.Context, name, id string, count int) (set bool, err error) {
	return decideName(ctx, b, "set latch", name, id, func(c *ledger.Clock, s *ledger.State) (bool, error) {
		return s.SetLatch(c, id, count)
	})
}

// CountDown implements [driver.Latches].
func (b *Backend) CountDown(ctx context.Context, name, id string, by int) (left int, err error) {
	return decideName(ctx, b, "count down latch", name, id, func(c *ledger.Clock, s *ledger.State) (int, error) {
		return s.CountDown(c, id, by)
	})
}

// LatchCount implements [driver.Latches].
func (b *Backend) LatchCount(ctx context.Context, name string) (left int, err error) {
	left, err = lookAt(ctx, b, name, func(c *ledger.Clock, s *ledger.State) (int, error) { return s.LatchCount(c) })
	return left, b.Describe("look at latch", name, err)
}

// DropLatch implements [driver.Latches].
func (b *Backend) DropLatch(ctx context.Context, name string) (dropped bool, err error) {
	return decideName(ctx, b, "drop latch", name, "", func(c *ledger.Clock, s *ledger.State) (bool, error) {
		return s.DropLatch(c)
	})
}
