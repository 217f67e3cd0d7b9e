package bedrocktest

import (
	"context"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// SetLatch implements [driver.Latches].
func (b *Backend) SetLatch(ctx context.Context, name, id string, count int) (bool, error) {
	return throughLatches(ctx, b, SetLatch, func(ctx context.Context, inner driver.Latches) (bool, error) {
		return inner.SetLatch(ctx, name, id, count)
	})
}

// CountDown implements [driver.Latches].
func (b *Backend) CountDown(ctx context.Context, name, id string, by int) (int, error) {
	return throughLatches(ctx, b, CountDown, func(ctx context.Context, inner driver.Latches) (int, error) {
		return inner.CountDown(ctx, name, id, by)
	})
}

// LatchCount implements [driver.Latches].
func (b *Backend) LatchCount(ctx context.Context, name string) (int, error) {
	return throughLatches(ctx, b, LatchCount, func(ctx context.Context, inner driver.Latches) (int, error) {
		return inner.LatchCount(ctx, name)
	})
}

// DropLatch implements [driver.Latches].
func (b *Backend) DropLatch(ctx context.Context, name string) (bool, error) {
	return throughLatches(ctx, b, DropLatch, func(ctx context.Context, inner driver.Latches) (bool, error) {
		return inner.DropLatch(ctx, name)
	})
}

// throughLatches makes a call the way its fault wants it, if the inner backend keeps latches.
func throughLatches[T any](
	ctx context.Context, b *Backend, m Method, call func(context.Context, driver.Latches) (T, error),
) (none T, err error) {
	inner, ok := b.inner.(driver.Latches)
	if !ok {
		return none, driver.ErrUnsupported
	}
	return through(ctx, b.faults, m, func(ctx context.Context) (T, error) { return call(ctx, inner) })
}
