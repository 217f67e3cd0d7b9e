package bedrocktest

import (
	"context"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// Plead implements [driver.Pleader].
func (b *Backend) Plead(ctx context.Context, name string, p driver.Plea) (int, error) {
	inner, ok := b.inner.(driver.Pleader)
	if !ok {
		return 0, driver.ErrUnsupported
	}
	return through(ctx, b.faults, Plead, func(ctx context.Context) (int, error) { return inner.Plead(ctx, name, p) })
}

// Attend implements [driver.Attender]. No fault keeps a message from whom it is for.
func (b *Backend) Attend(ctx context.Context, client string, tell func(driver.Message)) (stop func(), err error) {
	inner, ok := b.inner.(driver.Attender)
	if !ok {
		return nil, driver.ErrUnsupported
	}
	return inner.Attend(ctx, client, tell)
}
