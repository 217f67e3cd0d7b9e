package bedrocktest

import (
	"context"
	"slices"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// Together implements [driver.Bundler]. Where the inner backend grants no locks in one step, none are.
func (b *Backend) Together(names []string) bool {
	inner, ok := b.inner.(driver.Bundler)
	return ok && inner.Together(names)
}

// AcquireAll implements [driver.Bundler].
func (b *Backend) AcquireAll(ctx context.Context, reqs []driver.Request) ([]driver.Grant, error) {
	inner, ok := b.inner.(driver.Bundler)
	if !ok {
		return nil, driver.ErrUnsupported
	}
	own := slices.Clone(reqs) // the caller may leave, and use its memory for others
	return through(ctx, b.faults, AcquireAll, func(ctx context.Context) ([]driver.Grant, error) {
		return inner.AcquireAll(ctx, own)
	})
}

// Annotate implements [driver.Annotator].
func (b *Backend) Annotate(ctx context.Context, g driver.Grant, meta string) error {
	inner, ok := b.inner.(driver.Annotator)
	if !ok {
		return driver.ErrUnsupported
	}
	_, err := through(ctx, b.faults, Annotate, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, inner.Annotate(ctx, g, meta)
	})
	return err
}

// Downgrade implements [driver.Downgrader].
func (b *Backend) Downgrade(ctx context.Context, g driver.Grant) error {
	inner, ok := b.inner.(driver.Downgrader)
	if !ok {
		return driver.ErrUnsupported
	}
	_, err := through(ctx, b.faults, Downgrade, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, inner.Downgrade(ctx, g)
	})
	return err
}
